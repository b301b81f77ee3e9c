--- What does each `:Regreen…` command do?

local M = {}

local WARN = vim.log.levels.WARN

local function action(name, client, argument)
  require('regreen.actions')[name](client, argument)
end

--- The argument that names the red test that the user means; nil, after saying so, when nothing is red.
---@param client vim.lsp.Client
---@param nodeid string as typed; empty: at the cursor
---@return table?
local function red_test(client, nodeid)
  local server = require('regreen.server')
  if nodeid ~= '' then
    return vim.tbl_extend('error', server.place(client), { nodeid = nodeid })
  end
  local red = require('regreen.reds').at(vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1)
  if not red then
    server.say('no red test is known here', WARN)
    return nil
  end
  return { nodeid = red.nodeid, uri = vim.uri_from_bufnr(red.bufnr) }
end

local function folder(client)
  return client.root_dir and { uri = vim.uri_from_fname(client.root_dir) } or {}
end

local function heal(client, options)
  local red = require('regreen.reds').at(vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1)
  local argument
  if options.bang then
    argument = folder(client)
  elseif red or options.args ~= '' then
    argument = red_test(client, options.args)
  else -- nothing is known to be red: the server runs the file's tests, and heals what they show
    argument = require('regreen.server').place(client)
  end
  action('heal', client, argument)
end

local function resume(client, options)
  local argument = red_test(client, '')
  if argument then
    argument.hint = options.args ~= '' and options.args or nil
    action('resume', client, argument)
  end
end

local function run(client, options)
  local argument = options.bang and folder(client) or require('regreen.server').place(client)
  if options.args ~= '' then
    argument.nodeid = options.args
  end
  action('runTests', client, argument)
end

---@param done fun(fixes: regreen.Fix[], here: integer)
local function with_fixes(client, done)
  require('regreen.fixes').list(client, function(fixes, here)
    if #fixes == 0 then
      return require('regreen.server').say('there is no verified fix; `:RegreenHeal` looks for one', WARN)
    end
    done(fixes, here)
  end)
end

local function preview(client, options)
  with_fixes(client, function(fixes)
    require('regreen.preview').open(client, fixes, options.args ~= '' and options.args or nil)
  end)
end

local function apply(client)
  with_fixes(client, function(fixes, here)
    local meant = here > 0 and vim.list_slice(fixes, 1, here) or fixes
    if #meant == 1 then
      return action('apply', client, { fix = meant[1].id })
    end
    local choice = { prompt = 'Apply which fix?', kind = 'codeaction' }
    choice.format_item = function(fix)
      return fix.title
    end
    vim.ui.select(meant, choice, function(fix)
      if fix then
        action('apply', client, { fix = fix.id })
      end
    end)
  end)
end

local function status(client)
  local server = require('regreen.server')
  server.command(client, 'status', {}, function(result)
    local lines = {}
    for _, project in ipairs(result.projects) do
      local heals = project.autoHeal and ', heals on save' or ''
      local message = project.message ~= '' and (': ' .. project.message) or ''
      lines[#lines + 1] = ('%s is %s%s%s'):format(vim.uri_to_fname(project.root), project.state, heals, message)
    end
    server.say(#lines > 0 and table.concat(lines, '\n') or 'no project with tests is open')
  end)
end

local function about_red_test(name)
  return function(client, options)
    local argument = red_test(client, options.args)
    if argument then
      action(name, client, argument)
    end
  end
end

local function about_place(name)
  return function(client)
    action(name, client, require('regreen.server').place(client))
  end
end

local function red_tests(lead)
  return require('regreen.reds').complete(lead)
end

local function views(lead)
  return vim.tbl_filter(function(view)
    return vim.startswith(view, lead)
  end, { 'split', 'unified' })
end

---@type table<string, { [1]: fun(client: vim.lsp.Client, options: table), desc: string, [string]: any }>
local COMMANDS = {
  Heal = { heal, desc = 'Find a fix for the red test here; with ! for everything red', nargs = '?', bang = true, complete = red_tests },
  Resume = { resume, desc = "Go on with a model's last heal of the red test here, with a hint", nargs = '*' },
  Run = { run, desc = "Run this file's tests, one test, or with ! the whole suite", nargs = '?', bang = true, complete = red_tests },
  Cancel = { about_place('cancel'), desc = 'Stop what runs' },
  Trust = { about_place('trust'), desc = 'Let the tests of this folder run' },
  Preview = { preview, desc = 'Show what a verified fix changes', nargs = '?', complete = views },
  Apply = { apply, desc = 'Apply a verified fix' },
  Explain = { about_red_test('explain'), desc = 'Tell all that is known about a red test', nargs = '?', complete = red_tests },
  Mute = { about_red_test('mute'), desc = 'Suggest no more fixes for a red test', nargs = '?', complete = red_tests },
  ToggleAutoHeal = { about_place('toggleAutoHeal'), desc = 'Turn healing on save on or off, for this session' },
  Status = { status, desc = 'Tell what Regreen is doing' },
}

--- Defines all commands.
function M.define()
  for name, command in pairs(COMMANDS) do
    local options = { desc = command.desc, nargs = command.nargs or 0, bang = command.bang, complete = command.complete }
    vim.api.nvim_create_user_command('Regreen' .. name, function(given)
      local client = require('regreen.server').require()
      if client then
        command[1](client, given)
      end
    end, options)
  end
  vim.api.nvim_create_user_command('RegreenLog', function()
    require('regreen.log').show()
  end, { desc = 'Show what the server logged' })
end

return M
