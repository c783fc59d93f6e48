-- Commands among the arguments, from the one at `first` on, `most` of them: each is the number of its words, its name, the
-- number of its key or, where it has none, the word in its place, and its other words. Runs them; returns their answers, and where the next one begins.
local function run_commands(first, most)
  local answers, at = {}, first
  while at <= #ARGV and #answers < most do
    local words = tonumber(ARGV[at])
    local key = KEYS[tonumber(ARGV[at + 2])] or ARGV[at + 2]
    answers[#answers + 1] = redis.call(ARGV[at + 1], key, unpack(ARGV, at + 3, at + words))
    at = at + words + 1
  end
  return answers, at
end

-- What a change is worked out from: {digest, time ms, answers of the looks}; and where the commands after the looks begin.
local function look()
  local answers, following = run_commands(4, tonumber(ARGV[3]))
  return { redis.sha1hex(cmsgpack.pack(answers)), (clock(ARGV[1])), answers }, following
end
