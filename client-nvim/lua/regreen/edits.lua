--- How does an edit of the server reach the buffers: whole, in one undo step, and never onto other text?

local M = {}

--- The texts that an edit touches, as text document identifiers.
---@param edit lsp.WorkspaceEdit
---@return { uri: string, version: integer? }[]
local function documents(edit)
  return vim.tbl_map(function(change)
    return change.textDocument
  end, edit.documentChanges or {})
end

--- Why an edit does not fit the buffers any more; nil if it does.
---
--- Neovim itself leaves out an edit for older text, but goes on with the rest and reports success.
---@param edit lsp.WorkspaceEdit
---@return string?
local function misfit(edit)
  for _, document in ipairs(documents(edit)) do
    local bufnr = vim.uri_to_bufnr(document.uri)
    local name = vim.fs.basename(vim.api.nvim_buf_get_name(bufnr))
    local version = vim.lsp.util.buf_versions[bufnr]
    if type(document.version) == 'number' and version and version ~= document.version then
      return ('%s changed since this fix was verified'):format(name)
    end
    if vim.api.nvim_buf_is_loaded(bufnr) and not vim.bo[bufnr].modifiable then
      return ("%s cannot be changed here ('nomodifiable')"):format(name)
    end
  end
end

--- Ends the undo step of a buffer, so that what came before is not undone together with what comes now.
---@param bufnr integer
local function end_undo_step(bufnr)
  vim.api.nvim_buf_call(bufnr, function()
    vim.cmd('let &g:undolevels = &g:undolevels')
  end)
end

--- Apply an edit, or nothing of it.
---@param edit lsp.WorkspaceEdit
---@param encoding string of the client's columns
---@return string? why it was refused
function M.apply(edit, encoding)
  local reason = misfit(edit)
  if reason then
    return reason
  end
  local buffers = {}
  for _, document in ipairs(documents(edit)) do
    local bufnr = vim.uri_to_bufnr(document.uri)
    vim.fn.bufload(bufnr)
    vim.bo[bufnr].buflisted = true
    buffers[#buffers + 1] = bufnr
  end
  vim.iter(buffers):each(end_undo_step)
  local done, problem = pcall(vim.lsp.util.apply_workspace_edit, edit, encoding)
  vim.iter(buffers):each(end_undo_step)
  return not done and tostring(problem) or nil
end

return M
