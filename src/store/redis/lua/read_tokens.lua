-- Reads tokens of one user with the expired reservations of the user given back.
-- KEYS[1]  the user; touches `:t:<token>` and `:r` below it
-- ARGV     now ms, or '' to leave reservations alone; then token ids
-- Returns  {user enabled, then for each id its fields, or nil}
--!include _reclaim
if ARGV[1] ~= '' then reclaim(KEYS[1], ARGV[1]) end
local reply = { redis.call('HGET', KEYS[1], 'enabled') }
for i = 2, #ARGV do
  local fields = redis.call('HMGET', KEYS[1] .. ':t:' .. ARGV[i], 'name', 'enabled', 'hint', 'created', 'accessed',
    'expires', 'remain', 'unlimited', 'used', 'policy', 'version')
  reply[i] = fields[1] and fields
end
return reply
