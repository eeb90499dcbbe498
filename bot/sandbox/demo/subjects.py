"""The subjects of Harbor's issues, by project, category and tracker."""

from bot.sandbox.demo.company import INFRASTRUCTURE, MOBILE, OLD_SHOP, SECURITY, WEBSHOP
from bot.sandbox.tracker.defaults import BUG, FEATURE, SUPPORT, TASK

Subjects = dict[str, dict[int, tuple[str, ...]]]

SUBJECTS: dict[int, Subjects] = {
    WEBSHOP: {
        "Checkout": {
            BUG: (
                "Discount code is applied twice",
                "Delivery address is lost after going back",
                "Checkout button stays grey",
                "Shipping costs are missing from the summary",
                "Order confirmation arrives without the items",
                "Gift wrapping can't be removed again",
                "Postal codes with a space are refused",
                "Cart shows 0 items after signing in",
            ),
            FEATURE: (
                "Let guests check out without an account",
                "Remember the last delivery address",
                "Offer pick-up points on a map",
                "Show the day of delivery before paying",
                "Add a note to the order",
            ),
            SUPPORT: ("Customer can't change the invoice address", "Order was charged but never confirmed"),
            TASK: (
                "Rewrite the cart's price rules",
                "Drop the old one-page checkout",
                "Review checkout texts",
            ),
        },
        "Catalogue": {
            BUG: (
                "Out-of-stock products can be ordered",
                "Product pictures load in the wrong size",
                "Sizes are sorted by name, not by size",
                "Prices jump when the language changes",
                "Variant picker forgets the colour",
                "Sale badge overlaps the picture",
            ),
            FEATURE: (
                "Compare up to four products",
                "Show which sizes run small",
                "Let editors schedule a product's release",
                "Videos on product pages",
            ),
            SUPPORT: (
                "Supplier's price list can't be imported",
                "Missing pictures for the spring collection",
            ),
            TASK: ("Move pictures to the new storage", "Clean up discontinued products"),
        },
        "Search": {
            BUG: (
                "Search finds nothing for words with an umlaut",
                "Filter for size resets the sort order",
                "Suggestions stay open after choosing one",
                "Searching for an article number is slow",
                "Second page of results repeats the first",
            ),
            FEATURE: (
                "Suggest a spelling when nothing is found",
                "Search inside a category",
                "Rank available products first",
            ),
            TASK: ("Rebuild the search index each night", "Measure what people search for in vain"),
        },
        "Accounts": {
            BUG: (
                "Password reset link works only once a day",
                "Newsletter box is ticked by default",
                "Order history is empty for merged accounts",
                "Sign-in form reports the wrong error",
                "Profile picture is rotated",
            ),
            FEATURE: (
                "Sign in with a passkey",
                "Export one's own data",
                "Several delivery addresses per account",
            ),
            SUPPORT: (
                "Customer asks for deletion of the account",
                "Two accounts for the same address",
                "Customer doesn't get our mails",
            ),
            TASK: ("Shorten the registration form", "Delete accounts unused for five years"),
        },
        "Payments": {
            BUG: (
                "Payment page times out",
                "Refund shows the wrong currency",
                "Saved card is offered after it expired",
                "Instalments are rounded up",
                "Bank transfer orders are never cancelled",
            ),
            FEATURE: ("Pay with a gift card and a credit card together", "Refund part of an order"),
            SUPPORT: ("Customer was charged twice", "Invoice lacks the tax number"),
            TASK: ("Renew the contract with the payment provider", "Reconcile refunds of the last quarter"),
        },
    },
    MOBILE: {
        "Sign-in": {
            BUG: (
                "App signs out after each update",
                "Fingerprint is asked for twice",
                "Sign-in with a pasted password fails",
                "Keyboard covers the sign-in button",
            ),
            FEATURE: ("Sign in with a code from the browser", "Stay signed in on a tablet"),
            SUPPORT: ("Customer can't sign in on a second phone",),
            TASK: ("Remove the old sign-in library",),
        },
        "Browsing": {
            BUG: (
                "App crashes when rotating a product picture",
                "List jumps to the top after going back",
                "Prices are cut off with large text",
                "Dark mode shows black text on black",
                "Barcode scanner finds the wrong product",
                "Wish list loses its order",
            ),
            FEATURE: (
                "Scan a barcode to find a product",
                "Share a wish list",
                "Landscape layout for tablets",
            ),
            SUPPORT: ("Customer asks for the app in Polish",),
            TASK: ("Replace the picture cache", "Screenshots for the stores"),
        },
        "Notifications": {
            BUG: (
                "Notification opens the wrong order",
                "Same notification arrives three times",
                "Notifications ignore quiet hours",
            ),
            FEATURE: ("Tell me when a product is back", "One notification a day at most"),
            TASK: ("Renew the push certificate",),
        },
        "Offline": {
            BUG: (
                "Cart is empty after a train ride",
                "App waits for ever without a network",
                "Orders sent twice after reconnecting",
            ),
            FEATURE: ("Keep the last fifty products for offline reading",),
            TASK: ("Test on slow networks",),
        },
    },
    INFRASTRUCTURE: {
        "Deployment": {
            BUG: (
                "Rollback leaves the old assets behind",
                "Deployment waits for a lock that nobody holds",
                "Staging runs with production's time zone",
                "Build cache grows without bound",
            ),
            TASK: (
                "Deploy without downtime",
                "Pin the base images",
                "Upgrade the build runners",
                "Write down how to roll back",
            ),
        },
        "Monitoring": {
            BUG: (
                "Alert for disk space fires every night",
                "Dashboard loses the first minute of each hour",
                "Health check succeeds while the queue is down",
            ),
            TASK: (
                "Alert on slow checkouts",
                "Keep logs for ninety days",
                "One dashboard per service",
                "Trace requests through the queue",
            ),
        },
        "Database": {
            BUG: (
                "Replica lags after the nightly import",
                "Backup job ends without a word",
                "Connections run out at noon",
            ),
            TASK: (
                "Rehearse restoring a backup",
                "Upgrade to the next major version",
                "Archive orders older than ten years",
                "Add the missing index on order lines",
            ),
        },
        "Network": {
            BUG: ("Office VPN drops after an hour", "IPv6 address of the mail relay is stale"),
            TASK: (
                "Renew certificates by themselves",
                "Move DNS to the new provider",
                "Close ports that nobody uses",
            ),
        },
    },
    SECURITY: {
        "Findings": {
            BUG: (
                "Session stays valid after a password change",
                "Order number can be guessed in the tracking link",
                "Rate limit is missing on the voucher check",
                "Error page shows the framework's version",
                "Uploads accept files with two extensions",
            ),
            TASK: ("Answer the report of an outside researcher", "Check the suppliers' portal"),
        },
        "Hardening": {
            BUG: ("Content policy blocks our own fonts",),
            TASK: (
                "Rotate the database passwords",
                "Require a second factor for administrators",
                "Review who may deploy",
                "Encrypt the backups",
            ),
        },
    },
    OLD_SHOP: {
        "Orders": {
            BUG: (
                "Orders vanish at midnight",
                "Export to accounting stops at a comma",
                "Totals differ by a cent",
            ),
            SUPPORT: ("Copy of an invoice from last year", "Customer can't see old orders"),
        },
        "Templates": {
            BUG: ("Footer overlaps the page in print", "Mail template shows raw HTML"),
            SUPPORT: ("Change the opening hours in the footer",),
        },
    },
}

CIRCUMSTANCES: dict[int, tuple[str, ...]] = {
    WEBSHOP: (
        "for guests",
        "on slow connections",
        "in Safari on iPad",
        "with a voucher",
        "after the session expires",
        "for business customers",
        "in the French shop",
        "with two tabs open",
    ),
    MOBILE: (
        "on Android 14",
        "on small phones",
        "on iOS 18",
        "after an update",
        "in airplane mode",
        "on tablets",
    ),
    INFRASTRUCTURE: ("on the second host", "since the move", "under load", "at the turn of the month"),
    SECURITY: ("on staging", "in the partner interface"),
    OLD_SHOP: ("for old customers", "since the last update", "on Sundays", "in the archive"),
}

EPICS: tuple[tuple[int, str, str, tuple[tuple[str, tuple[str, ...]], ...]], ...] = (
    (
        WEBSHOP,
        "Checkout",
        "A checkout in two steps",
        (
            ("Design the two steps", ("Sketches for phones", "Sketches for large screens")),
            ("Merge address and delivery", ("Validate addresses while typing",)),
            ("Measure where people give up", ()),
        ),
    ),
    (
        WEBSHOP,
        "Search",
        "Search that understands typing errors",
        (("Collect the hundred most common errors", ()), ("Try the new index on staging", ())),
    ),
    (
        MOBILE,
        "Browsing",
        "The app on tablets",
        (
            ("Two columns in landscape", ("Product list beside the product",)),
            ("Larger pictures", ()),
            ("Test with keyboard and mouse", ()),
        ),
    ),
    (
        INFRASTRUCTURE,
        "Database",
        "Move to the new database cluster",
        (("Measure today's load", ()), ("Rehearse the move", ("Write the way back",)), ("Move at night", ())),
    ),
)
"""Project, category, subject, and the tasks below it with their own subtasks."""
