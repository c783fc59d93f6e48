#!lua
-- Writes redemption codes, all or none.
-- KEYS     hashes, ids, then the record of each code
-- ARGV     created time, then eight for each code: id, name, quota, hash, hint, creator, expired time, batch
-- Returns  1, or nil if a code with one of the hashes already exists
local seen = {}
for i = 2, #ARGV, 8 do
  local hash = ARGV[i + 3]
  if seen[hash] or redis.call('HEXISTS', KEYS[1], hash) == 1 then return false end
  seen[hash] = true
end
local record = 3
for i = 2, #ARGV, 8 do
  redis.call('HSET', KEYS[record], 'name', ARGV[i + 1], 'quota', ARGV[i + 2], 'status', 'enabled', 'hash', ARGV[i + 3],
    'hint', ARGV[i + 4], 'creator', ARGV[i + 5], 'created', ARGV[1], 'redeemed', 0, 'user', 0, 'expires', ARGV[i + 6],
    'claim', 0, 'batch', ARGV[i + 7])
  redis.call('HSET', KEYS[1], ARGV[i + 3], ARGV[i])
  redis.call('ZADD', KEYS[2], ARGV[i], ARGV[i])
  record = record + 1
end
return 1
