#!/usr/bin/env bash
# A day in the life of a gateway, from the first login to a forgotten password. It needs
#
#   URL            where the gateway listens            (default: http://localhost:8080)
#   ROOT_PASSWORD  of the account root
#   OUTBOX         where the gateway puts its mails     (default: data/outbox)
#   UPSTREAM       a server with the API of Cohere; `npm run stubs` starts one
#   UPSTREAM_KEY   its key
#   DAY            a folder for cookies and replies     (default: a new one)
#
# and curl and node. It stops at the first thing that is not as it should be.
set -euo pipefail
URL=${URL:-http://localhost:8080}
OUTBOX=${OUTBOX:-data/outbox}
DAY=${DAY:-$(mktemp -d)}
# Names of this run, so that it may be repeated on the same gateway.
RUN=$(node -pe 'Date.now().toString(36)')
GRACE=grace-$RUN@example.com

say() { printf '\n== %s\n' "$*"; }
fail() { echo "NOT AS IT SHOULD BE: $*" >&2; exit 1; }

# api <who> <method> <path> [body]: calls the management API with the cookies of somebody, prints the reply.
api() {
  curl -sS --fail-with-body -b "$DAY/$1.cookies" -c "$DAY/$1.cookies" \
    -X "$2" -H 'Content-Type: application/json' ${4:+-d "$4"} "$URL$3"
}

# status <who> <method> <path>: the status alone.
status() {
  curl -sS -o /dev/null -w '%{http_code}' -b "$DAY/$1.cookies" -X "$2" "$URL$3"
}

# rerank <key>: the status, with the reply in $DAY/ranking.json.
rerank() {
  curl -sS -o "$DAY/ranking.json" -w '%{http_code}' "$URL/v1/rerank" \
    -H "Authorization: Bearer $1" -H 'Content-Type: application/json' \
    -d '{"model": "day-'"$RUN"'", "query": "the moon", "documents": ["the sun", "the moon"], "top_n": 1}'
}

# of <member>: a member of the JSON on standard input.
of() { node -pe 'JSON.parse(require("fs").readFileSync(0, "utf8")).'"$1"; }

# expect <what> <wanted> <found>
expect() { if [ "$2" = "$3" ]; then echo "$1: $3"; else fail "$1 is $3, not $2"; fi; }

# password <name>: a new one, kept in the folder.
password() { node -pe 'require("crypto").randomBytes(12).toString("hex")' | tee "$DAY/$1.password"; }

say 'Root logs in and makes an admin'
api root POST /api/user/login "{\"username\": \"root\", \"password\": \"$ROOT_PASSWORD\"}" >/dev/null
ADMIN_PASSWORD=$(password admin)
api root POST /api/user/ \
  "{\"username\": \"ada-$RUN\", \"password\": \"$ADMIN_PASSWORD\", \"role\": 10}" | of data.username

say 'The admin adds channels under two tags'
api ada POST /api/user/login "{\"username\": \"ada-$RUN\", \"password\": \"$ADMIN_PASSWORD\"}" >/dev/null
for color in blue green; do
  tag=$color-$RUN
  model=$([ $color = blue ] && echo day || echo night)-$RUN
  api ada POST /api/channel/ "{
    \"name\": \"$tag-1\", \"provider\": \"cohere\", \"base_url\": \"$UPSTREAM\", \"api_key\": \"$UPSTREAM_KEY\",
    \"models\": {\"$model\": \"rerank-v3.5\"}, \"tag\": \"$tag\"
  }" | of 'data.name'
done

say 'and prints ten codes'
api ada POST '/api/redemption/?format=text' \
  '{"name": "welcome", "quota": 5000, "count": 10}' | tee "$DAY/codes.txt"
CODE=$(head -n 1 "$DAY/codes.txt")

say 'makes an account for a user, who redeems one'
USER_PASSWORD=$(password user)
api ada POST /api/user/ \
  "{\"username\": \"grace-$RUN\", \"email\": \"$GRACE\", \"password\": \"$USER_PASSWORD\"}" >/dev/null
api user POST /api/user/login "{\"username\": \"grace-$RUN\", \"password\": \"$USER_PASSWORD\"}" >/dev/null
cp "$DAY/user.cookies" "$DAY/user-old.cookies"
expect 'units redeemed' 5000 "$(api user POST /api/user/topup "{\"key\": \"$CODE\"}" | of data)"

say 'creates a key for one request of 1000 units, and reranks'
api user POST /api/token/ '{"name": "my app", "remain_quota": 1000}' >"$DAY/key.json"
KEY=$(of data.key <"$DAY/key.json")
KEY_ID=$(of data.id <"$DAY/key.json")
expect 'status' 200 "$(rerank "$KEY")"
expect 'best document' 1 "$(of 'results[0].index' <"$DAY/ranking.json")"

say 'runs out'
expect 'status' 403 "$(rerank "$KEY")"
expect 'code' token_quota_exhausted "$(of error.code <"$DAY/ranking.json")"

say 'extends the key, and reranks'
api user PUT /api/token/ "{\"id\": $KEY_ID, \"add_quota\": 3000, \"status\": 1}" | of data.remain_quota
expect 'status' 200 "$(rerank "$KEY")"

say 'The admin disables the tag'
api ada POST /api/channel/tag/disabled "{\"tag\": \"blue-$RUN\", \"reason\": \"slow since three\"}" | of data.in_force
expect 'status for the user' 503 "$(rerank "$KEY")"
expect 'code' no_channel_available "$(of error.code <"$DAY/ranking.json")"

say 'and enables it'
api ada POST /api/channel/tag/enabled "{\"tag\": \"blue-$RUN\"}" | of data.in_force
expect 'status for the user' 200 "$(rerank "$KEY")"

say 'The user forgets the password, and gets a code by mail'
api nobody GET "/api/reset_password?email=$GRACE" | of message
for _ in $(seq 100); do
  MAIL=$(grep -ls "$GRACE" "$OUTBOX"/*.eml | head -n 1 || true)
  if [ -n "$MAIL" ]; then break; fi
  sleep 0.1
done
[ -n "$MAIL" ] || fail 'no mail has come'
RESET_CODE=$(sed -n 's/^ *\([0-9A-Za-z_-]\{6,\}\)\r\{0,1\}$/\1/p' "$MAIL" | head -n 1)
echo "$RESET_CODE" >"$DAY/reset-code.txt"

say 'and sets a new one: old sessions are dead'
NEW_PASSWORD=$(password user-new)
expect 'status of the session before' 200 "$(status user-old GET /api/user/self)"
api nobody POST /api/user/reset \
  "{\"email\": \"$GRACE\", \"token\": \"$RESET_CODE\", \"password\": \"$NEW_PASSWORD\"}" >/dev/null
expect 'status of the session after' 401 "$(status user-old GET /api/user/self)"
api user POST /api/user/login "{\"username\": \"grace-$RUN\", \"password\": \"$NEW_PASSWORD\"}" | of data.username

say 'What the day has cost'
for _ in $(seq 100); do
  REQUESTS=$(api user GET /api/log/self/stat | of data.requests)
  if [ "$REQUESTS" = 3 ]; then break; fi
  sleep 0.1
done
api user GET /api/log/self/stat | of 'data.quota'
