--- How is a text shown that is no file?

local M = {}

--- A buffer that belongs to no file, cannot be changed, and goes with its window. It replaces one of the same name.
---@param name string
---@param lines string[]
---@param syntax string the colours; not 'filetype', which would wake other plug-ins
---@return integer bufnr
function M.buffer(name, lines, syntax)
  local title = 'regreen://' .. name
  local old = vim.fn.bufnr('^' .. title .. '$')
  if old > 0 then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, title)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].modifiable = false
  vim.bo[buf].syntax = syntax
  return buf
end

--- Show lines in a split below, closed by `q`.
---@param name string
---@param lines string[]
---@param syntax string
---@return integer window
function M.show(name, lines, syntax)
  local buf = M.buffer(name, lines, syntax)
  local height = math.max(3, math.min(#lines, math.floor(vim.o.lines / 2)))
  local win = vim.api.nvim_open_win(buf, true, { split = 'below', win = -1, height = height })
  vim.wo[win].wrap = true
  vim.wo[win].linebreak = true
  vim.wo[win].spell = false
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buf, nowait = true, desc = 'Close' })
  return win
end

return M
