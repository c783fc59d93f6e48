-- Writes redemption codes, all or none.
-- KEYS[1]  the codes; touches `:seq`, `:hashes`, `:ids` and `:<id>` below it
-- ARGV     created time, then six for each: name, quota, hash, hint, creator, expired time
-- Returns  their ids, or nil when there is one with that hash already
local hashes = KEYS[1] .. ':hashes'
local seen = {}
for i = 2, #ARGV, 6 do
  local hash = ARGV[i + 2]
  if seen[hash] or redis.call('HEXISTS', hashes, hash) == 1 then return false end
  seen[hash] = true
end
local ids = {}
for i = 2, #ARGV, 6 do
  local id = redis.call('INCR', KEYS[1] .. ':seq')
  redis.call('HSET', KEYS[1] .. ':' .. id, 'name', ARGV[i], 'quota', ARGV[i + 1], 'status', 'enabled', 'hash',
    ARGV[i + 2], 'hint', ARGV[i + 3], 'creator', ARGV[i + 4], 'created', ARGV[1], 'redeemed', 0, 'user', 0,
    'expires', ARGV[i + 5], 'claim', 0)
  redis.call('HSET', hashes, ARGV[i + 2], id)
  redis.call('ZADD', KEYS[1] .. ':ids', id, id)
  ids[#ids + 1] = id
end
return ids
