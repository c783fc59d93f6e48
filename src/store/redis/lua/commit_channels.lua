-- Writes changes that were worked out from one version of the channels, if that is still the version.
-- KEYS[1]  the channels; touches `:version` and `:all` below it
-- ARGV     expected version, pub/sub channel, then pairs: channel id, record or '' to delete it
-- Returns  the new version, or nil when another change was faster
local version = redis.call('GET', KEYS[1] .. ':version') or '0'
if version ~= ARGV[1] then return false end
for i = 3, #ARGV, 2 do
  if ARGV[i + 1] == '' then
    redis.call('HDEL', KEYS[1] .. ':all', ARGV[i])
  else
    redis.call('HSET', KEYS[1] .. ':all', ARGV[i], ARGV[i + 1])
  end
end
local next = redis.call('INCR', KEYS[1] .. ':version')
redis.call('PUBLISH', ARGV[2], next)
return next
