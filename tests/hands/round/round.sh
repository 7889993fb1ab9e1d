# README's round by the command line.
AGENT=$(lodge agents create "$NAME" --model "$MODEL" --llm-key "$PROVIDER=env:PROVIDER_KEY" --size small --idle-timeout 0 --json | node -p 'JSON.parse(require("node:fs").readFileSync(0)).id')
lodge models | grep "$AGENT"
lodge chat "$AGENT" -c me -m "$QUESTION"
lodge agents stop "$AGENT"
lodge agents start "$AGENT"
lodge api GET "/v1/agents/$AGENT/logs" >log.json
lodge api POST "/v1/agents/$AGENT/exec" -f command='cat >notes.md' -f stdin="$(cat notes.md)"$'\n'
lodge api POST "/v1/agents/$AGENT/exec" -f command='wc -l notes.md'
lodge api POST "/v1/agents/$AGENT/exec" -f command="cat $WRITTEN"
lodge chat "$AGENT" -c me -m "$AGAIN"
lodge open "$AGENT" --print >link.txt
lodge agents delete "$AGENT" --yes
