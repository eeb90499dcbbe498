# Seeds a fresh Redmine for the tests: run by redmine.ru, after the migrations.
# Writes the IDs and keys that the tests need as JSON to the path in ISSUEBOT_WORLD.
require 'json'

ActionMailer::Base.perform_deliveries = false
ActiveJob::Base.queue_adapter = :inline # a job that reads in a thread would lock SQLite
Redmine::DefaultData::Loader.load('en')

Setting.rest_api_enabled = '1'
Setting.default_language = 'en'
Setting.attachment_max_size = '64' # KiB: keeps the files of the tests small
Setting.attachment_extensions_denied = 'exe, bat, com' # the default is none

manager, developer, reporter = %w[Manager Developer Reporter].map { |name| Role.find_by!(name: name) }
developer.add_permission!(:edit_own_time_entries, :set_own_issues_private)
reporter.add_permission!(:edit_own_time_entries)
customer = Role.create!(
  name: 'Customer', permissions: %i[view_issues add_issues], issues_visibility: 'own' # sees only their own issues
)

users = {
  'ana' => ['Ana', 'Ruiz', false, 'Madrid'],
  'ben' => ['Ben', 'Okafor', false, 'London'],
  'chris' => ['Chris', 'Lindqvist', true, 'International Date Line West'], # never has the same date as Dora
  'dora' => ['Dora', 'Weiss', false, "Nuku'alofa"], # a developer
  'nils' => ['Nils', 'Aalto', false, 'Helsinki'], # not a member of any project
  'lena' => ['Lena', 'Vogt', false, 'Berlin'], # a reporter, locked
  'olga' => ['Olga', 'Petrova', false, 'Sofia'], # a customer
}.to_h do |login, (firstname, lastname, admin, zone)|
  user = User.new(firstname: firstname, lastname: lastname, mail: "#{login}@example.test", language: 'en')
  user.login = login
  user.admin = admin
  user.password = user.password_confirmation = SecureRandom.hex(12)
  user.save!
  user.pref.update!(time_zone: zone)
  [login, user]
end
ana, ben, chris, dora, lena, olga = users.values_at('ana', 'ben', 'chris', 'dora', 'lena', 'olga')

trackers = Tracker.all.index_by(&:name)
severity = IssueCustomField.create!(
  name: 'Severity', field_format: 'list', possible_values: %w[minor major critical],
  is_required: true, is_filter: true, is_for_all: false, trackers: [trackers['Bug']]
)
environment = IssueCustomField.create!(
  name: 'Environment', field_format: 'string', is_filter: true, is_for_all: true, trackers: Tracker.all
)

# A field of each kind, for the project `lab`.
lab_fields = [
  ['Serial number', 'string', {}],
  ['Remarks', 'text', {}],
  ['Attempts', 'int', {}],
  ['Voltage', 'float', {}],
  ['Reproducible', 'bool', {}],
  ['First seen', 'date', {}],
  ['Colour', 'list', { possible_values: %w[red green blue] }],
  ['Browsers', 'list', { possible_values: %w[Firefox Chromium Safari], multiple: true }],
  ['Tester', 'user', {}],
  ['Broken since', 'version', {}],
  ['Report', 'link', {}],
  ['Building', 'enumeration', {}],
].map do |name, format, rest|
  IssueCustomField.create!(
    name: name, field_format: format, is_filter: true, is_for_all: false, trackers: Tracker.all, **rest
  )
end
buildings = %w[North South].map do |name|
  CustomFieldEnumeration.create!(custom_field: lab_fields.last, name: name)
end

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

everyone = { ana => manager, ben => reporter, chris => developer, dora => developer }
projects = {}
projects['public'] = project(
  'webshop', 'Web Shop', is_public: true, members: { **everyone, lena => reporter }, fields: [severity]
)
projects['child'] = project(
  'webshop-search', 'Shop Search', is_public: true, parent: projects['public'], members: everyone
)
projects['private'] = project('vault', 'Vault', is_public: false, members: { ana => manager, chris => manager })
projects['closed'] = project('museum', 'Museum', is_public: true, members: everyone)
projects['archived'] = project('attic', 'Attic', is_public: true, members: everyone)
projects['lab'] = project(
  'lab', 'Lab', is_public: true, members: { **everyone, olga => customer }, fields: lab_fields
)
projects['lab'].update!(enabled_module_names: %w[issue_tracking], trackers: trackers.values_at('Bug', 'Feature'))
lab_version = projects['lab'].versions.create!(name: 'Prototype')
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
  projects['child'], ben, 'Search ignores umlauts', priority: IssuePriority.find_by!(name: 'High'),
  start_date: Date.new(2024, 5, 1), due_date: Date.new(2024, 5, 31) # parents derive theirs from their subtasks
)
issues['museum'] = issue(projects['closed'], ana, 'An issue of long ago')
issues['archived'] = issue(projects['archived'], ana, 'An issue in an archived project')
issues['lab'] = issue(projects['lab'], ana, 'The oscilloscope drifts')
issues['olgas'] = issue(projects['lab'], olga, 'My sample is late')
IssueRelation.create!(
  issue_from: parent, issue_to: issues['child'], relation_type: IssueRelation::TYPE_RELATES
)
projects['closed'].reload.close # its position in the tree has changed
projects['archived'].reload.archive

lena.lock!

# Enough rows for three pages, inserted at once. The newest has the lowest number, which makes sorting visible.
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

# The projects `depot` and, below it, `cellar`: issues that differ in every field, from depot.json.
wes = User.new(firstname: 'Wes', lastname: 'Moreno', mail: 'wes@example.test', language: 'en')
wes.login = 'wes'
wes.password = wes.password_confirmation = SecureRandom.hex(12)
wes.save!
wes.pref.update!(time_zone: 'Eastern Time (US & Canada)') # west of the service, so that days begin later
users['wes'] = wes
crew = Group.create!(lastname: 'Depot crew')
crew.users << [ana, chris]
shelf = IssueCustomField.create!( # the field that can't be filtered by
  name: 'Shelf', field_format: 'string', is_filter: false, is_for_all: false, trackers: Tracker.all
)
members = { ana => manager, ben => reporter, wes => reporter }
depot = project('depot', 'Depot', is_public: false, members: members, fields: [*lab_fields, shelf])
stores = {
  'depot' => depot,
  'cellar' => project(
    'cellar', 'Cellar', is_public: false, parent: depot, members: members, fields: [*lab_fields, shelf]
  )
}
depot_categories = %w[Inbound Outbound].to_h { |name| [name, depot.issue_categories.create!(name: name)] }
depot_versions = %w[Spring Autumn Winter].to_h { |name| [name, depot.versions.create!(name: name)] }
named = {
  'Tester' => users,
  'Broken since' => depot_versions,
  'Building' => buildings.index_by(&:name)
}
rows = JSON.parse(File.read(File.join(__dir__, 'depot.json')))
stored = rows.each_with_index.with_object([]) do |(row, number), above|
  made = Issue.new(
    project: stores[row['project']], author: users[row['author']], subject: row['subject'],
    tracker: trackers[row['tracker']], priority: IssuePriority.find_by!(name: row['priority']),
    status: statuses.values.find { |status| status.name.casecmp?(row['status']) },
    fixed_version: depot_versions[row['version']], category: depot_categories[row['category']],
    parent_issue_id: row['parent'] && above[row['parent']].id, is_private: row['is_private'] || false
  )
  values = row['custom_fields'].map do |name, value|
    [lab_fields.find { |field| field.name == name }.id, named.dig(name, value)&.id&.to_s || value]
  end
  made.custom_field_values = values.to_h.merge(shelf.id => "S#{number % 3}")
  made.save!(validate: false)
  above << made
end
stored.zip(rows) do |made, row| # undoes what subtasks and history have changed
  made.update_columns(
    **%w[start_date due_date estimated_hours done_ratio].to_h { |name| [name.to_sym, row[name]] },
    **%w[created_on updated_on closed_on].to_h { |name| [name.to_sym, row[name] && Time.parse(row[name])] },
    priority_id: IssuePriority.find_by!(name: row['priority']).id,
    assigned_to_id: row['assigned_to'] && users.merge('crew' => crew)[row['assigned_to']].id
  )
end
depot_versions['Winter'].update!(status: 'closed')
queries = [
  ['late', depot, { 'due_date' => ['<=', ['2024-06-30']], 'status_id' => ['o', ['']] }],
  ['urgent', nil, { 'priority_id' => ['=', ['4']], 'status_id' => ['*', ['']] }],
].to_h do |name, project, filters|
  query = IssueQuery.new(name: name, project: project, user: ana, visibility: Query::VISIBILITY_PUBLIC)
  query.filters = filters.transform_values { |operator, values| { operator: operator, values: values } }
  query.save!
  [name, query.id]
end

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
  custom_fields: [severity, environment, *lab_fields].to_h { |field| [field.name, field.id] },
  choices: {
    'Tester' => { 'Ben Okafor' => ben.id, 'Dora Weiss' => dora.id },
    'Broken since' => { lab_version.name => lab_version.id },
    'Building' => buildings.to_h { |building| [building.name, building.id] },
  },
  queries: queries,
  max_upload: 64 * 1024
}
File.write(ENV.fetch('ISSUEBOT_WORLD'), JSON.generate(world))
