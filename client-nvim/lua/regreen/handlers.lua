--- What do we do differently from Neovim when the server calls, or when a code action or lens names a command?

local M = {}

--- Methods, for the `handlers` of the configuration.
M.methods = {
  ['regreen/status'] = function(_, status, ctx)
    require('regreen.status').keep(status, ctx.client_id)
  end,

  -- A fix that arrives by itself is one undo step of its own, and is refused where the text is another by now.
  ['workspace/applyEdit'] = function(_, params, ctx)
    local client = assert(vim.lsp.get_client_by_id(ctx.client_id))
    local reason = require('regreen.edits').apply(params.edit, client.offset_encoding)
    return { applied = reason == nil, failureReason = reason }
  end,

  ['window/logMessage'] = function(err, params, ctx)
    require('regreen.log').keep(params)
    return vim.lsp.handlers['window/logMessage'](err, params, ctx)
  end,
}

--- Commands of code actions and lenses that we carry out ourselves, so that the user hears how they ended.
M.commands = {}

for _, name in ipairs({ 'heal', 'runTests', 'cancel', 'trust', 'showDiff', 'explain', 'mute', 'apply', 'toggleAutoHeal' }) do
  M.commands['regreen.server.' .. name] = function(command, ctx)
    local client = assert(vim.lsp.get_client_by_id(ctx.client_id))
    require('regreen.actions')[name](client, command.arguments and command.arguments[1] or {})
  end
end

return M
