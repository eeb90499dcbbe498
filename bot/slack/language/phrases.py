"""Phrases: what words mean without a colon, as options of the same command (docs/commands.md).

`reading` uses these tables for the text of every command, mention and direct message.
"""

from typing import Literal

Where = Literal["search", "new", "change", "time"]  # a search, a new issue, a change to one, or time
SEARCH: tuple[Where, ...] = ("search",)
ISSUE: tuple[Where, ...] = ("new", "change")
NEW: tuple[Where, ...] = ("new",)
CHANGE: tuple[Where, ...] = ("change",)
TIME: tuple[Where, ...] = ("time",)
EVERYWHERE: tuple[Where, ...] = ("search", "new", "change")
CLEARABLE = (
    ("to", "assignee|owner"),
    ("category", "category"),
    ("version", "target? version|milestone"),
    ("parent", "parent issue|task?"),
    ("start", "start date?"),
    ("due", "due|deadline date?"),
    ("estimate", "estimate|estimated time|hours?"),
)
"""The fields that an issue may lack, and their names in phrases."""
SET = (("status", "status|state"), ("priority", "priority|prio"), ("tracker", "tracker|type"), *CLEARABLE)
MY_WORK = "status:any to:me updated:{times}"
ACTS = frozenset({"ask", "cannot", "holder", "step", "count", "most"})
"""What phrases mean that no option says."""
HAPPENED = "did|has|what? anything|something|what|what's happen|happened|happening|change|changed"
AGO, UNTOUCHED = "created:<{span}", "updated:<{span}"
PHRASES: tuple[tuple[str, str, tuple[Where, ...]], ...] = (
    # Due dates
    ("overdue|late", "status:open due:<today", SEARCH),
    ("overdue|late in? here", "status:open due:<today", SEARCH),
    ("not done by|before due|deadline date?", "status:open due:<today", SEARCH),
    ("past due", "status:open due:<today", SEARCH),
    ("overdue|late for|by|since? more|longer|over? than? {span}", "status:open due:<{span}", SEARCH),
    ("due soon", "due:7d", SEARCH),
    ("i have|need to finish|do|deliver|complete {dates}", "to:me due:{dates}", SEARCH),
    ("no|without|missing a|the|any? due|deadline date?", "due:none", SEARCH),
    ("due|deadline date? missing|unset", "due:none", SEARCH),
    ("~with|no|without an|any? estimate|estimates|estimation", "cannot:estimate", SEARCH),
    ("no|without|missing a|the|any? start date?", "start:none", SEARCH),
    ("starts|starting {dates}", "start:{dates}", SEARCH),
    ("due|deadline {dates}", "due:{dates}", SEARCH),
    ("due|deadline on|by|for|is? {day}", "due:{day}", ISSUE),
    ("push|move|postpone|extend the? due|deadline date? to {value}", "due:{value}", CHANGE),
    ("push|move|postpone|delay it|this? to|until {day}", "due:{day}", CHANGE),
    # Assignees
    ("not assigned to {person!}", "to:!{person}", SEARCH),
    ("not|except|excluding assigned|for? to? {person}", "to:!{person}", SEARCH),
    ("not|isn't|aren't|except mine", "to:!me", SEARCH),
    ("not|except {owner}", "to:!{owner}", SEARCH),
    ("unassigned|unowned", "to:nobody", SEARCH),
    ("not assigned to? anyone|anybody|someone|somebody?", "to:nobody", SEARCH),
    ("no|without an? assignee|owner", "to:nobody", SEARCH),
    ("nobody|no-one has|is|'s? picked|taken|claimed|working|assigned|doing up|on?", "to:nobody", SEARCH),
    ("unassign|unassigned it|this?", "to:none", CHANGE),
    ("unassign from? {person}", "to:none holder:{person}", CHANGE),
    ("mine", "to:me", ("search", "change")),
    ("my", "to:me", SEARCH),
    ("am|i|i'm i? working on", "to:me", SEARCH),
    ("what should i work|do on? next?", "to:me sort:priority:desc", SEARCH),
    ("on my plate|desk today|now?", "to:me", SEARCH),
    ("i'll? take|grab it|this?", "to:me", CHANGE),
    ("assign|assigned|reassign it|this? to {person!}", "to:{person}", EVERYWHERE),
    ("assign {person!}", "to:{person}", CHANGE),
    ("assignee is? {person!}", "to:{person}", SEARCH),
    ("give|hand it|this? over? to {person!}", "to:{person}", CHANGE),
    ("owned by {person!}", "to:{person}", SEARCH),
    ("for {person}", "to:{person}", SEARCH),
    ("{owner}", "to:{owner}", SEARCH),
    ("{person}", "to:{person}", ("search", "change")),
    ("who|who's is|are|'s? working|works on?", "status:open to:anybody sort:to", SEARCH),
    ("what did|have i do|done|finish|finished|fix|fixed|change {times}", MY_WORK, SEARCH),
    ("what did i close {times}", "status:any to:me closed:{times}", SEARCH),
    (
        "what did|has {person} do|done|finish|fix|change {times}",
        "status:any to:{person} updated:{times}",
        SEARCH,
    ),
    ("what did|has {person} close|closed {times}", "status:any to:{person} closed:{times}", SEARCH),
    (
        "what did|has {person} create|report|open|file {times}",
        "status:any author:{person} created:{times}",
        SEARCH,
    ),
    ("what did i create|report|open|file {times}", "status:any author:me created:{times}", SEARCH),
    # Authors
    ("created|reported|opened|filed|raised|submitted|written|added by {person!}", "author:{person}", SEARCH),
    ("by|from {person}", "author:{person}", SEARCH),
    ("{person} created|reported|opened|filed|raised", "author:{person}", SEARCH),
    ("updated|changed|modified|touched by {person}", "", SEARCH),
    ("watched|followed by {person}", "cannot:watched", SEARCH),
    ("~that|which? i|i'm watch|follow|watching|following", "cannot:watched", SEARCH),
    ("~with|without|no an|any? attachment|attachments|file|files", "cannot:attachments", SEARCH),
    ("~i|i've comment|commented on|in?", "cannot:comments", SEARCH),
    ("closed|resolved|finished|fixed by {person}", "status:closed to:{person}", SEARCH),
    ("closed|resolved|finished|fixed by {person} {times}", "status:any to:{person} closed:{times}", SEARCH),
    ("closed|resolved|finished|fixed {times} by {person}", "status:any to:{person} closed:{times}", SEARCH),
    ("not|except created|reported|opened|filed|raised? by|from {person}", "author:!{person}", SEARCH),
    ("author is? {person!}", "author:{person}", SEARCH),
    ("that|which? i|i've created|reported|opened|filed|raised|made", "author:me", SEARCH),
    # Priorities
    ("{urgent}", "priority:{urgent}", SEARCH),
    ("any {urgent}", "priority:{urgent}", SEARCH),
    ("any? {priority} priority|prio", "priority:{priority}", SEARCH),
    (",{priority} priority|prio", "priority:{priority}", NEW),
    (",{urgent}", "priority:{urgent}", NEW),
    (":{priority}", "priority:{priority}", NEW),
    ("~{priority}", "priority:{priority}", SEARCH),
    ("{priority}", "priority:{priority}", CHANGE),
    ("{urgent}", "priority:{urgent}", CHANGE),
    ("not|no|except|excluding|without {priority} priority|prio?", "priority:!{priority}", SEARCH),
    ("priority|prio is? above|over|higher|greater than? {priority!}", "priority:>{priority}", SEARCH),
    ("above|over|higher than? {priority} priority|prio", "priority:>{priority}", SEARCH),
    ("priority|prio is? below|under|lower|less than? {priority!}", "priority:<{priority}", SEARCH),
    ("below|under|lower than? {priority} priority|prio", "priority:<{priority}", SEARCH),
    ("priority|prio is? at least {priority!}", "priority:>={priority}", SEARCH),
    ("at least {priority} priority|prio", "priority:>={priority}", SEARCH),
    ("~at least {priority}", "priority:>={priority}", SEARCH),
    ("{least} priority|prio?", "priority:>={least}", SEARCH),
    ("{priority} priority|prio? or|and higher|above|up", "priority:>={priority}", SEARCH),
    ("{priority} priority|prio? or|and lower|below", "priority:<={priority}", SEARCH),
    ("make|set it|this? to? urgent", "priority:urgent", CHANGE),
    ("make|set it|this? to? immediate", "priority:immediate", CHANGE),
    ("make? it|this? {word} priority|prio", "priority:{word}", CHANGE),
    ("priority|prio is? {urgent}", "priority:{urgent}", ("search", "change")),
    ("priority|prio is? {priority!}", "priority:{priority}", ("search", "new")),
    ("raise|lower|bump|increase|decrease the? priority|prio to? {value}", "priority:{value}", CHANGE),
    ("raise|lower|bump|increase|decrease it|this? to {priority}", "priority:{priority}", CHANGE),
    # Trackers, statuses, categories and versions
    ("{tracker} report|reports|request|requests?", "tracker:{tracker}", SEARCH),
    (":{tracker} report|request|ticket|issue?", "tracker:{tracker}", NEW),
    (",tracker|type is? {tracker}", "tracker:{tracker}", NEW),
    ("make|turn|convert|change it|this? into|to? a|an? {tracker}", "tracker:{tracker}", CHANGE),
    ("except|excluding|without|no|not|but not? {tracker}", "tracker:!{tracker}", SEARCH),
    ("tracker|type is? {tracker!}", "tracker:{tracker}", SEARCH),
    ("still? open|unresolved|unfinished", "status:open", SEARCH),
    ("not|isn't|aren't closed|done", "status:open", SEARCH),
    ("not|isn't|aren't open", "status:closed", SEARCH),
    ("closed", "status:closed", SEARCH),
    ("all|any|every", "status:any", SEARCH),
    ("open or|and closed", "status:any", SEARCH),
    ("any|every|whatever status", "status:any", SEARCH),
    ("in|with? status is? {status}", "status:{status}", SEARCH),
    ("waiting for {status}", "status:{status}", SEARCH),
    ("{status}", "status:{status}", ("search", "change")),
    ("status|state? is? not|isn't|aren't|except|excluding|without {status}", "status:!{status}", SEARCH),
    ("{status} {times}", "status:{status} updated:{times}", SEARCH),
    ("{status} but|and? not|never yet? closed", "status:{status}", SEARCH),
    ("mark|set it|this? as? done|closed|complete|completed|finished|fixed", "step:close", CHANGE),
    ("set|change|update it|this? to {status}", "status:{status}", CHANGE),
    ("set|change|update it|this? to {priority}", "priority:{priority}", CHANGE),
    ("close|closed|done it|this?", "step:close", CHANGE),
    ("reopen|reopened|open|unclose it|this? again?", "step:reopen", CHANGE),
    ("start|begin work|working? on? it|this? now|please?", "step:start", CHANGE),
    ("move|transfer it|this? to the? {project} project?", "cannot:project", CHANGE),
    ("move|transfer it|this? to the? project {value}", "cannot:project", CHANGE),
    ("move|put it|this? in|into|to {status}", "status:{status}", CHANGE),
    ("move|put it|this? in|into|to {version}", "version:{version}", CHANGE),
    ("mark|move|set|put|back it|this? as|to|in|into {value}", "status:{value}", CHANGE),
    ("category is? {category!}", "category:{category}", SEARCH),
    (":{category}", "category:{category}", NEW),
    (",in? category is? {category}", "category:{category}", NEW),
    ("no|without a|any? category", "category:none", SEARCH),
    (",in|for? target? version|milestone|release is? {version}", "version:{version}", NEW),
    ("no|without a|any? target? version|milestone", "version:none", SEARCH),
    ("in|for|with? category? is? {category} category?", "category:{category}", SEARCH),
    ("not|isn't|aren't|except|excluding|without in|for? {category}", "category:!{category}", SEARCH),
    ("not|isn't|aren't|except|excluding|without in|for? {version}", "version:!{version}", SEARCH),
    ("planned? in|for? target? version|milestone|release? is? {version}", "version:{version}", SEARCH),
    # Projects
    ("in|on|from|across? project? all|any|every projects?", "project:any", SEARCH),
    ("everywhere", "project:any", SEARCH),
    ("in|on|from? project? is? {project}", "project:{project}", SEARCH),
    ("not|isn't|aren't|except|excluding|without in|on|from? project? {project}", "cannot:project", SEARCH),
    ("in|on project {project!}", "project:{project}", ("search", "new")),
    ("in|on|for project? {project}", "project:{project}", TIME),
    (":in|on|for? project? {project}", "project:{project}", NEW),
    # Times
    ("created|opened|reported|filed|raised|new|added {times}", "created:{times}", SEARCH),
    ("updated|changed|modified|touched {times}", "updated:{times}", SEARCH),
    ("closed|resolved|finished|completed|done|fixed {times}", "status:any closed:{times}", SEARCH),
    ("created|opened|reported|filed|open|old|older for|since? more|longer|over? than? {span}", AGO, SEARCH),
    ("for|since more|longer|over than? {span}", AGO, SEARCH),
    ("not|no update|updates|changes|activity for|in {span}", UNTOUCHED, SEARCH),
    ("not|no|nobody|no-one has? updated|touched|changed|modified for|in {span}", UNTOUCHED, SEARCH),
    ("not updated|touched|changed|modified since {times}", "updated:<{times}", SEARCH),
    ("inactive|untouched|stale for? {span}", UNTOUCHED, SEARCH),
    ("~inactive|untouched|stale", "updated:<30d", SEARCH),
    (f"{HAPPENED} {{times}}", "status:any updated:{times}", SEARCH),
    (f"{HAPPENED} in|on {{project}} {{times}}", "status:any project:{project} updated:{times}", SEARCH),
    ("what's|whats|anything new in|on {project} {times}", "project:{project} created:{times}", SEARCH),
    ("since|after {times}", "created:>={times}", SEARCH),
    ("from|in the? {month}", "created:{month}", SEARCH),
    ("from|during {times}", "created:{times}", SEARCH),
    ("~{period}", "created:{period}", SEARCH),
    # Other issues
    ("subtasks|children|subissues of|under|for issue? {number}", "parent:{number}", SEARCH),
    # Order
    ("how|number|count many|of", "count:yes", SEARCH),
    ("sorted|sort|ordered|order? by {sorted}", "sort:{sorted}", SEARCH),
    ("newest|latest|last {number} created|opened|added?", "sort:created:desc most:{number}", SEARCH),
    ("{number} newest|latest", "sort:created:desc most:{number}", SEARCH),
    ("{number} oldest", "sort:created:asc most:{number}", SEARCH),
    ("latest|last {number} updated|changed", "sort:updated:desc most:{number}", SEARCH),
    ("recently closed|resolved|finished", "status:closed sort:closed:desc", SEARCH),
    ("oldest|first {number}", "sort:created:asc most:{number}", SEARCH),
    ("top {number}", "sort:priority:desc most:{number}", SEARCH),
    ("top|highest priority|prio first?", "sort:priority:desc", SEARCH),
    ("sort|sorted|most? newest|latest|recent first?", "sort:created:desc", SEARCH),
    ("oldest first?", "sort:created:asc", SEARCH),
    ("recently updated|changed", "sort:updated:desc", SEARCH),
    ("recently created|opened|added", "sort:created:desc", SEARCH),
    ("most urgent|important first?", "sort:priority:desc", SEARCH),
    # Other fields of an issue
    ("{percent} done|complete|finished|there?", "done:{percent}", CHANGE),
    ("set|change|update progress to? {value}", "done:{value}", CHANGE),
    ("done at|to? {percent}", "done:{percent}", CHANGE),
    ("starts|starting on? {day}", "start:{day}", CHANGE),
    ("add|move it|this? to version|milestone|release {value}", "version:{value}", CHANGE),
    ("make it|this? a? subtask|child of {number}", "parent:{number}", CHANGE),
    ("rename it|this? to {rest}", "subject:{rest}", CHANGE),
    ("rename: {rest}", "subject:{rest}", CHANGE),
    (",for|assign|assignee is? {person}", "to:{person}", NEW),
    (",assign|reassign it|this? to {person!}", "to:{person}", NEW),
    (",project is? {project}", "project:{project}", NEW),
    (",to the? {project}", "project:{project}", NEW),
    ("--project {project}", "project:{project}", NEW),
    ("--type|--tracker {tracker}", "tracker:{tracker}", NEW),
    ("-p|--priority {priority}", "priority:{priority}", NEW),
    ("-a|--assignee {person}", "to:{person}", NEW),
    (",private|confidential", "private:yes", NEW),
    (":{tracker} under issue|ticket? {number}", "tracker:{tracker} parent:{number}", NEW),
    (":subtask|sub-task|child of|for|under|to issue|ticket? {number}", "parent:{number}", NEW),
    (",estimate|estimated|est at|is? {hours}", "estimate:{hours}", NEW),
    (",{effort} estimate|estimated", "estimate:{effort}", NEW),
    ("~,{effort}", "estimate:{effort}", NEW),
    (",starts|starting on? {day}", "start:{day}", NEW),
    ("assign|reassign it|this?", "ask:to", CHANGE),
    *(
        (f"set|change|update|edit? the? {name} to|is|=|as|at|→|->? {{value}}", f"{key}:{{value}}", CHANGE)
        for key, name in (
            *SET,
            ("to", "to|assigned"),
            ("done", "% done"),
        )
    ),
    *((f"set|change|update|edit the? {name}", f"ask:{key}", CHANGE) for key, name in SET),
    *((f"no|without|clear|remove|drop the? {n} anymore?", f"{key}:none", CHANGE) for key, n in CLEARABLE),
    # What can't be changed here
    ("make|set|mark it|this? as? private|public|confidential", "cannot:private", CHANGE),
    ("add|remove {person} as|to|from the|a|an? watcher|watchers on|for|of?", "cannot:watch", CHANGE),
    ("add|remove {word} as|to|from the|a|an? watcher|watchers on|for|of?", "cannot:watch", CHANGE),
    ("add|remove watcher {person!}", "cannot:watch", CHANGE),
    ("is? a|the? duplicate of issue? {number}", "cannot:relation", CHANGE),
    ("duplicates|blocks|precedes|follows issue? {number}", "cannot:relation", CHANGE),
    ("depends on issue? {number}", "cannot:relation", CHANGE),
    ("is? blocked by issue? {number}", "cannot:relation", CHANGE),
    ("is? relates|related|relate|link to issue? {number}", "cannot:relation", CHANGE),
    ("copy|duplicate|clone it|this?", "cannot:copy", CHANGE),
    ("copy|duplicate|clone it|this? to|into the? {project} project?", "cannot:copy", CHANGE),
    ("delete|remove it|this?", "cannot:delete", CHANGE),
    ("set|change|update|edit the? subject|title|name to|as|= {rest}", "subject:{rest}", CHANGE),
    ("subject|title {title}", "subject:{title}", CHANGE),
)
"""Phrases, the options that they stand for, and where they count.

A phrase has words with alternatives (`a|b`), optional words (`a?`) and slots. `{person}` takes a known name,
`{person!}` also an unknown one, which is then reported. `{value}` takes the words up to the next phrase,
`{rest}` all of them, and `{title}` all if they begin like a title. `~`: only if no text is left, or beside
another phrase of a new issue; `,`: only after a comma or the like, after another phrase, or before a new
issue's colon; `:`: only there. A value with `!` is left out. Other words stay text.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FILLERS = _words(
    "issues issue tickets ticket show list find search give get see all the with and that which are is "
    "were was of me please what what's whats everything anything things stuff have i for those these "
    "there has been being a an still in do we our us who can you could tell need want any about currently "
    "right now does did ones but at moment to look up team my on or yet working doing from how "
    "why when where should would already thats that's belong belongs belonging & + ,"
)
"""Words that mean nothing in a search beside a phrase or at its start."""
VERBS = _words(
    "issues tickets issue ticket show list find can could you with and the me all about any anything "
    "everything something who what how why when where which should is are was containing contains"
)
"""Fillers that mean nothing at a search's start even if it has no phrase."""
NOUNS = frozenset({"issues", "tickets", "issue", "ticket"})
"""Fillers that stand for the issues to search, anywhere in the text."""
TALK = _words("please pls plz asap thanks thank thx hey hi hello kindly bot ok okay btw lol")
"""Words that mean nothing before or after a request."""
NEGATIONS = _words(
    "not no neither nor never don't dont doesn't didn't didnt haven't isn't aren't wasn't won't can't cannot "
    "without except excluding"
)
"""Words before a phrase that turn it around: it is none then."""
STATING = _words("is are was were been")
LASTING = STATING | _words("down out off away waiting offline unavailable unreachable broken blocked stuck")
"""Words of what lasts: `down for 2h` is no time spent."""
LIMITING = STATING | _words(
    "to or than until till after every of need needs take takes lasts lasted be plan planned expect expected "
    "in within less remaining estimate estimated eta sla budget limit max maximum most timeout delay"
)
"""Words right before a duration that isn't the time spent: `from 2 to 3h`, `downtime was 2h`."""
VAGUE = (
    FILLERS
    | NEGATIONS
    | {"since", "from", "in", "first", "last", "top", "latest", "newest", "oldest", "after"}
)
"""What begins phrases, but isn't half of one alone."""
STATES = frozenset({"new", "resolved", "finished", "completed", "done", "fixed"})
"""Words of phrases that may be the name of a status, too."""
SELF = frozenset({"me", "myself", "@me"})
NOBODY = frozenset({"nobody", "none", "no-one", "noone"})
AND = frozenset({"and", "&", "+", ",", "then"})
OR = AND - {","} | {"or", "nor"}
SEPARATORS = AND | {"→", "->", "=>", ";", "also", "plus"}
QUESTION_WORDS = _words(
    "how what what's whats when who who's whos why where which can could should would is are did does do "
    "will has have was am"
)
OPENING = SEPARATORS | TALK | NOUNS | {"a", "an", "the", "new", "report", "request"}
"""Words that mean nothing before a new issue's colon."""
POLITE = SEPARATORS | TALK | _words("it this now the set change update edit to one")
"""Words that mean nothing beside a change."""
