-- Sets or forgets the switch of a tag.
-- KEYS[1]  the channels; touches `:version` and `:switches` below it
-- ARGV     pub/sub channel, tag, switch or '' to forget it
-- Returns  the version after it
local changed = 1
if ARGV[3] == '' then
  changed = redis.call('HDEL', KEYS[1] .. ':switches', ARGV[2])
else
  redis.call('HSET', KEYS[1] .. ':switches', ARGV[2], ARGV[3])
end
if changed == 0 then return tonumber(redis.call('GET', KEYS[1] .. ':version') or 0) end
local next = redis.call('INCR', KEYS[1] .. ':version')
redis.call('PUBLISH', ARGV[1], next)
return next
