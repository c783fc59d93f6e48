#!lua
-- Sets or deletes the switch of a tag.
-- KEYS     version, switches
-- ARGV     random part of the next version, pub/sub channel, tag, switch or '' to delete it
-- Returns  the version after it
--!include _version
local changed = 1
if ARGV[4] == '' then
  changed = redis.call('HDEL', KEYS[2], ARGV[3])
else
  redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
end
if changed == 0 then return tonumber(redis.call('GET', KEYS[1]) or 0) end
return next_version(KEYS[1], ARGV[1], ARGV[2])
