--- What happens when the user picks something? Each action takes the server and the command's one argument.

local fixes = require('regreen.fixes')
local server = require('regreen.server')

local M = {}

local WARN = vim.log.levels.WARN

--- The last folder of a path: a whole one does not fit the message line.
---@param uri string
local function short(uri)
  return vim.fs.basename((vim.uri_to_fname(uri):gsub('/$', '')))
end

--- Says how a request to start something was answered.
---@param words string
local function started(words)
  return function(result)
    local status = require('regreen.status').get()
    if result.message == 'started' then
      server.say(words)
    elseif status and status.state == 'untrusted' then
      server.say('nothing of this folder runs until you trust it: `:RegreenTrust`', WARN)
    else
      server.say(result.message, WARN)
    end
  end
end

function M.heal(client, argument)
  local name = argument.nodeid and argument.nodeid:match('[^:]+$') or 'everything red'
  server.command(client, 'heal', argument, started(('looking for a fix for %s'):format(name)))
end

function M.resume(client, argument)
  server.command(client, 'resume', argument, started(('going on with %s'):format(argument.nodeid:match('[^:]+$'))))
end

function M.runTests(client, argument)
  server.command(client, 'runTests', argument, started('running tests'))
end

function M.cancel(client, argument)
  server.command(client, 'cancel', argument, function(result)
    server.say(result.cancelled and 'stopped' or 'nothing was running')
  end)
end

function M.trust(client, argument)
  server.command(client, 'trust', argument, function(result)
    if result.trusted then
      server.say(('%s is trusted: its tests run when you save'):format(short(result.folder)))
    else
      server.say(result.message, WARN)
    end
  end)
end

function M.mute(client, argument)
  server.command(client, 'mute', argument, function()
    server.say(('no more fixes for %s until the server restarts'):format(argument.nodeid:match('[^:]+$')))
  end)
end

function M.toggleAutoHeal(client, argument)
  server.command(client, 'toggleAutoHeal', argument, function(result)
    server.say(result.autoHeal and 'verified fixes of up to three lines are now applied after you save'
      or 'fixes are only offered now')
  end)
end

function M.explain(client, argument)
  server.command(client, 'explain', { nodeid = argument.nodeid, show = false }, function(result)
    if result.markdown == '' then
      return server.say(('nothing is known about %s'):format(argument.nodeid), WARN)
    end
    require('regreen.page').show('explanation', vim.split(vim.trim(result.markdown), '\n'), 'markdown')
  end)
end

function M.showDiff(client, argument)
  require('regreen.preview').open(client, { { id = argument.fix } })
end

function M.apply(client, argument)
  fixes.apply(client, argument.fix)
end

return M
