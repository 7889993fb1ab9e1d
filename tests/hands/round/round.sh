# README's round by the command line.
lodge agents create "$NAME" --model "$MODEL" --llm-key "$PROVIDER=env:PROVIDER_KEY" --size small --idle-timeout 0
lodge chat "$NAME" -c me -m "$QUESTION"
lodge cp notes.md "$NAME:notes.md"
lodge exec "$NAME" -- wc -l notes.md
lodge agents stop "$NAME"
lodge agents start "$NAME"
lodge cp "$NAME:notes.md" copy.md && cmp notes.md copy.md
lodge cp "$NAME:$WRITTEN" -
lodge chat "$NAME" -c me -m "$AGAIN"
lodge logs "$NAME" | grep system
lodge usage "$NAME"
lodge open "$NAME" --print
lodge agents delete "$NAME" --yes
