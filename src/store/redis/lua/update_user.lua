-- Changes an account; its balance moves from what it is now, whatever runs beside it.
-- KEYS[1]  the user; touches `:t:<token>` and `:r` below it
-- ARGV     now ms, largest balance, 'set' or 'add' or '', quota to set or add, then fields and values to write
-- Returns  {name before, address before, fields...}; nil when it is not there; or 'quota_range'
--!include _reclaim
reclaim(KEYS[1], ARGV[1])
local user = redis.call('HMGET', KEYS[1], 'quota', 'username', 'email')
if not user[1] then return false end
local quota = tonumber(user[1])
if ARGV[3] == 'set' then quota = tonumber(ARGV[4]) end
if ARGV[3] == 'add' then quota = quota + tonumber(ARGV[4]) end
if quota < 0 or quota > tonumber(ARGV[2]) then return 'quota_range' end
redis.call('HSET', KEYS[1], 'quota', string.format('%.0f', quota), unpack(ARGV, 5))
local fields = redis.call('HMGET', KEYS[1], 'id', 'username', 'email', 'display', 'role', 'enabled', 'quota', 'used',
  'requests', 'created')
return { user[2], user[3], unpack(fields) }
