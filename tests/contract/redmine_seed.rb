# Seeds a fresh Redmine for the tests: run by redmine.ru, after the migrations.
# Writes the IDs and keys that the tests need as JSON to the path in ISSUEBOT_WORLD.
require 'json'

ActionMailer::Base.perform_deliveries = false
ActiveJob::Base.queue_adapter = :inline # a job that reads in a thread would lock SQLite
Redmine::DefaultData::Loader.load('en')

Setting.rest_api_enabled = '1'
Setting.default_language = 'en'
Setting.attachment_max_size = '64' # KiB: keeps the files of the tests small
Setting.notified_events = [] # nobody reads mails here, and writing them takes longer than the change
Setting.attachment_extensions_denied = 'exe, bat, com' # the default is none

manager, developer, reporter = %w[Manager Developer Reporter].map { |name| Role.find_by!(name: name) }
developer.add_permission!(:edit_own_time_entries, :set_own_issues_private)
reporter.add_permission!(:edit_own_time_entries)
customer = Role.create!(
  name: 'Customer', permissions: %i[view_issues add_issues], issues_visibility: 'own' # sees only their own issues
)

seed = JSON.parse(File.read(File.join(__dir__, 'seed.json')))
roles = { 'Manager' => manager, 'Developer' => developer, 'Reporter' => reporter, 'Customer' => customer }
trackers = Tracker.all.index_by(&:name)

users = seed['users'].to_h do |login, row|
  firstname, lastname = row['name']
  user = User.new(firstname: firstname, lastname: lastname, mail: "#{login}@example.test", language: 'en')
  user.login = login
  user.admin = row['admin'] || false
  user.password = user.password_confirmation = SecureRandom.hex(12)
  user.save!
  user.pref.update!(time_zone: row['zone'])
  [login, user]
end
crew = Group.create!(lastname: 'Depot crew')
crew.users << users.values_at('ana', 'chris')

fields = seed['fields'].to_h do |name, row|
  field = IssueCustomField.new(
    name: name, field_format: row['format'], is_filter: !row['unfilterable'], is_for_all: row['projects'].nil?,
    is_required: row['required'] || false, multiple: row['multiple'] || false,
    trackers: row['trackers'] ? trackers.values_at(*row['trackers']) : Tracker.all
  )
  field.possible_values = row['options'] if row['format'] == 'list'
  field.save!
  if row['format'] == 'enumeration'
    row['options'].each { |option| CustomFieldEnumeration.create!(custom_field: field, name: option) }
  end
  [name, field]
end

projects = seed['projects'].each_with_object({}) do |(kind, row), made|
  project = Project.new(name: row['name'], is_public: !row['hidden'], description: "#{row['name']}, for the tests.")
  project.identifier = row['identifier']
  project.enabled_module_names = %w[issue_tracking time_tracking wiki]
  project.trackers = Tracker.all.to_a
  own = seed['fields'].select { |_, field| field['projects']&.include?(kind) }
  project.issue_custom_fields = fields.values_at(*own.keys)
  project.save!
  project.set_parent!(made[row['parent']]) if row['parent']
  row['members'].each { |login, role| Member.create!(project: project, principal: users[login], roles: [roles[role]]) }
  made[kind] = project
end
lab = seed['projects']['lab']
projects['lab'].update!(enabled_module_names: lab['modules'], trackers: trackers.values_at(*lab['trackers']))
categories, versions = [%w[categories issue_categories], %w[versions versions]].map do |key, association|
  projects.to_h do |kind, project|
    names = seed['projects'][kind][key] || []
    [kind, names.to_h { |name| [name, project.send(association).create!(name: name)] }]
  end
end
named = {
  'Tester' => users,
  'Broken since' => versions.values.reduce(&:merge),
  'Building' => fields['Building'].enumerations.index_by(&:name)
}

statuses = IssueStatus.all.index_by { |status| status.name.downcase }
priorities = IssuePriority.all.index_by(&:name)
add = lambda do |rows|
  stored = rows.each_with_index.with_object([]) do |(row, number), above|
    project = row['project']
    made = Issue.new(
      project: projects[project], author: users[row['author']], subject: row['subject'],
      tracker: trackers[row['tracker'] || 'Feature'], priority: priorities[row['priority'] || 'Normal'],
      status: statuses[(row['status'] || 'New').downcase], description: row['description'],
      fixed_version: versions[project][row['version']], category: categories[project][row['category']],
      parent_issue_id: row['parent'] && above[row['parent']].id, is_private: row['is_private'] || false
    )
    values = (row['custom_fields'] || {}).to_h do |name, value|
      [fields[name].id, named.dig(name, value)&.id&.to_s || value]
    end
    values[fields['Shelf'].id] = "S#{number % 3}" if %w[depot cellar].include?(project)
    made.custom_field_values = values
    made.save!(validate: false)
    above << made
  end
  stored.zip(rows) do |made, row| # undoes what subtasks and history have changed
    moments = %w[created_on updated_on closed_on].to_h { |name| [name, row[name] && Time.parse(row[name])] }
    Issue.where(id: made.id).update_all(
      **(row['created_on'] ? moments : {}),
      **%w[start_date due_date estimated_hours].to_h { |name| [name, row[name]] },
      done_ratio: row['done_ratio'] || 0, priority_id: priorities[row['priority'] || 'Normal'].id,
      assigned_to_id: row['assigned_to'] && users.merge('crew' => crew)[row['assigned_to']].id
    )
  end
  stored
end
issues = seed['issues'].pluck('kind').zip(add.call(seed['issues'])).to_h
IssueRelation.create!(
  issue_from: issues['parent'], issue_to: issues['child'], relation_type: IssueRelation::TYPE_RELATES
)
projects['closed'].reload.close # its position in the tree has changed
projects['archived'].reload.archive

seed['users'].each { |login, row| users[login].lock! if row['locked'] }

# Enough rows for three pages, inserted at once. The newest has the lowest number, which makes sorting visible.
bulk = 205
first = Issue.maximum(:id)
now = Time.now.utc.change(usec: 0)
Issue.insert_all!((1..bulk).map do |n|
  {
    id: first + n, root_id: first + n, lft: 1, rgt: 2,
    project_id: projects['public'].id, tracker_id: trackers['Support'].id,
    status_id: statuses['new'].id, priority_id: IssuePriority.default.id, author_id: users['ben'].id,
    subject: format('Question %03d from a customer', n), description: '', done_ratio: 0,
    created_on: now - n.hours, updated_on: now - n.hours
  }
end)

add.call(seed['depot'])
versions['depot']['Winter'].update!(status: 'closed')
queries = [
  ['late', projects['depot'], { 'due_date' => ['<=', ['2024-06-30']], 'status_id' => ['o', ['']] }],
  ['urgent', nil, { 'priority_id' => ['=', ['4']], 'status_id' => ['*', ['']] }],
  ['bens', nil, { 'status_id' => ['*', ['']] }, 'ben', Query::VISIBILITY_PRIVATE],
].to_h do |name, project, filters, owner = 'ana', visibility = Query::VISIBILITY_PUBLIC|
  query = IssueQuery.new(name: name, project: project, user: users[owner], visibility: visibility)
  query.filters = filters.transform_values { |operator, values| { operator: operator, values: values } }
  query.save!
  [name, query.id]
end

world = {
  keys: users.transform_values(&:api_key),
  users: users.transform_values(&:id),
  projects: projects.except('depot', 'cellar').transform_values { |made| { id: made.id, identifier: made.identifier } },
  issues: issues.transform_values(&:id),
  bulk: bulk,
  trackers: trackers.transform_values(&:id),
  statuses: IssueStatus.all.to_h { |made| [made.name, made.id] },
  priorities: IssuePriority.all.to_h { |made| [made.name, made.id] },
  activities: TimeEntryActivity.all.to_h { |made| [made.name, made.id] },
  categories: categories['public'].transform_values(&:id),
  versions: versions['public'].transform_values(&:id),
  custom_fields: fields.transform_values(&:id),
  choices: named.transform_values { |values| values.values.to_h { |one| [one.name, one.id] } },
  queries: queries,
  max_upload: 64 * 1024
}
File.write(ENV.fetch('ISSUEBOT_WORLD'), JSON.generate(world))
