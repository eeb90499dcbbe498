# Seeds a fresh Redmine for the tests: run by redmine.py with `rails runner`, after the migrations.
# Writes what the tests need to know (addresses of nothing, ids and keys of everything) as JSON to
# the path in ISSUEBOT_WORLD.
require 'json'

ActionMailer::Base.perform_deliveries = false
Redmine::DefaultData::Loader.load('en')

Setting.rest_api_enabled = '1'
Setting.default_language = 'en'
Setting.attachment_max_size = '64' # KiB: too large is tested without large files

manager, developer, reporter = %w[Manager Developer Reporter].map { |name| Role.find_by!(name: name) }
developer.add_permission!(:edit_own_time_entries, :set_own_issues_private)
reporter.add_permission!(:edit_own_time_entries)

users = {
  'ana' => ['Ana', 'Ruiz', false, 'Madrid'],
  'ben' => ['Ben', 'Okafor', false, 'London'],
  'chris' => ['Chris', 'Lindqvist', true, 'Stockholm'],
}.to_h do |login, (firstname, lastname, admin, zone)|
  user = User.new(firstname: firstname, lastname: lastname, mail: "#{login}@example.test", language: 'en')
  user.login = login
  user.admin = admin
  user.password = user.password_confirmation = SecureRandom.hex(12)
  user.save!
  user.pref.update!(time_zone: zone)
  [login, user]
end
ana, ben, chris = users.values_at('ana', 'ben', 'chris')

trackers = Tracker.all.index_by(&:name)
severity = IssueCustomField.create!(
  name: 'Severity', field_format: 'list', possible_values: %w[minor major critical],
  is_required: true, is_filter: true, is_for_all: false, trackers: [trackers['Bug']]
)
environment = IssueCustomField.create!(
  name: 'Environment', field_format: 'string', is_filter: true, is_for_all: true, trackers: Tracker.all
)

def project(identifier, name, is_public:, parent: nil, members: {}, fields: [])
  made = Project.new(name: name, is_public: is_public, description: "#{name}, for the tests.")
  made.identifier = identifier
  made.enabled_module_names = %w[issue_tracking time_tracking wiki]
  made.trackers = Tracker.all.to_a
  made.issue_custom_fields = fields
  made.save!
  made.set_parent!(parent) if parent
  members.each { |user, role| Member.create!(project: made, principal: user, roles: [role]) }
  made
end

everyone = { ana => manager, ben => reporter, chris => developer }
projects = {}
projects['public'] = project('webshop', 'Web Shop', is_public: true, members: everyone, fields: [severity])
projects['child'] = project(
  'webshop-search', 'Shop Search', is_public: true, parent: projects['public'], members: everyone
)
projects['private'] = project('vault', 'Vault', is_public: false, members: { ana => manager, chris => manager })
projects['closed'] = project('museum', 'Museum', is_public: true, members: everyone)
shop = projects['public']

categories = ['Checkout', 'Catalogue'].to_h { |name| [name, shop.issue_categories.create!(name: name).id] }
versions = ['1.0', '2.0'].to_h { |name| [name, shop.versions.create!(name: name).id] }

def issue(project, author, subject, tracker: 'Feature', **rest)
  made = Issue.new(
    project: project, author: author, subject: subject, tracker: Tracker.find_by!(name: tracker),
    priority: IssuePriority.default, **rest
  )
  made.status ||= made.tracker.default_status
  made.save!
  made
end

statuses = IssueStatus.all.index_by(&:name)
issues = {}
parent = issue(
  shop, ana, 'Checkout fails with 100% discount', tracker: 'Bug', description: "Steps:\n\n1. Pay",
  assigned_to: ana, category_id: categories['Checkout'], fixed_version_id: versions['1.0'],
  estimated_hours: 2.5,
  custom_field_values: { severity.id => 'major', environment.id => 'staging' }
)
issues['parent'] = parent
issues['child'] = issue(shop, ben, 'Write down the rounding rule', parent_issue_id: parent.id)
issues['closed'] = issue(shop, ben, 'Basket forgets its items', status: statuses['Closed'], tracker: 'Support')
issues['private'] = issue(shop, ana, 'Private: refund of a customer', is_private: true)
issues['vault'] = issue(projects['private'], ana, 'Rotate the signing certificate')
issues['in_child'] = issue(
  projects['child'], ben, 'Search ignores umlauts',
  start_date: Date.new(2024, 5, 1), due_date: Date.new(2024, 5, 31) # not a parent's, which are its children's
)
issues['museum'] = issue(projects['closed'], ana, 'An issue of long ago')
IssueRelation.create!(
  issue_from: parent, issue_to: issues['child'], relation_type: IssueRelation::TYPE_RELATES
)
projects['closed'].close

# Enough rows for three pages, written at once; the newest has the lowest number, so that sorting shows.
bulk = 205
first = Issue.maximum(:id)
now = Time.now.utc.change(usec: 0)
Issue.insert_all!((1..bulk).map do |n|
  {
    id: first + n, root_id: first + n, lft: 1, rgt: 2, project_id: shop.id, tracker_id: trackers['Support'].id,
    status_id: statuses['New'].id, priority_id: IssuePriority.default.id, author_id: ben.id,
    subject: format('Question %03d from a customer', n), description: '', done_ratio: 0,
    created_on: now - n.hours, updated_on: now - n.hours
  }
end)

world = {
  keys: users.transform_values(&:api_key),
  users: users.transform_values(&:id),
  projects: projects.transform_values { |made| { id: made.id, identifier: made.identifier } },
  issues: issues.transform_values(&:id),
  bulk: bulk,
  trackers: trackers.transform_values(&:id),
  statuses: statuses.transform_values(&:id),
  priorities: IssuePriority.all.to_h { |made| [made.name, made.id] },
  activities: TimeEntryActivity.all.to_h { |made| [made.name, made.id] },
  categories: categories,
  versions: versions,
  custom_fields: { severity.name => severity.id, environment.name => environment.id },
  max_upload: 64 * 1024
}
File.write(ENV.fetch('ISSUEBOT_WORLD'), JSON.generate(world))
