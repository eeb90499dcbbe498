# Boots Redmine once: migrates and seeds its database if that is new, then serves it.
require File.join(Dir.pwd, 'config/environment')

unless File.exist?(ENV.fetch('ISSUEBOT_WORLD'))
  ActiveRecord::Base.connection.execute('PRAGMA synchronous = OFF')
  pool = ActiveRecord::Base.connection_pool
  migrations = pool.respond_to?(:migration_context) ? pool : ActiveRecord::Base.connection # before Rails 7.2
  migrations.migration_context.migrate
  ActiveRecord::Base.descendants.each(&:reset_column_information)
  load File.join(__dir__, 'redmine_seed.rb')
end

run RedmineApp::Application
