-- Gives up claims of an account.
-- KEYS[1]  the registry of accounts; touches `:names`, `:emails` and `:ids` below it
-- ARGV     account id, name or '', address or '', 1 when the account is gone altogether
-- Returns  nothing
local function release(kind, claimed)
  local key = KEYS[1] .. ':' .. kind
  local held = claimed ~= '' and redis.call('HGET', key, claimed)
  if held and string.match(held, '^%d+') == ARGV[1] then redis.call('HDEL', key, claimed) end
end
release('names', ARGV[2])
release('emails', ARGV[3])
if ARGV[4] == '1' then redis.call('ZREM', KEYS[1] .. ':ids', ARGV[1]) end
