#!lua
-- Sets or deletes the switch of a tag.
-- KEYS     version, switches, log of changes
-- ARGV     random part of the next version, pub/sub channel, tag, switch or '' to delete it
-- Returns  the version after it
--!include _version
--!include _log
local version = redis.call('GET', KEYS[1]) or '0'
local changed = 1
if ARGV[4] == '' then
  changed = redis.call('HDEL', KEYS[2], ARGV[3])
else
  redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
end
if changed == 0 then return tonumber(version) end
local after = next_version(KEYS[1], ARGV[1], ARGV[2])
note_change(KEYS[3], version, after, { 't' .. ARGV[3] })
return after
