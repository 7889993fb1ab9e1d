#!/usr/bin/env bash
# npm run check: every static check.
source "$(dirname "$0")/lib.sh"
bash scripts/setup.sh packages
PATH="$PWD/node_modules/.bin:$PATH"
shell_syntax() { for file in scripts/*.sh .ci/run; do bash -n "$file" || return 1; done; }

part types tsc -p .
part 'types of the pages' tsc -p apps/web
part lint oxlint --type-aware --deny-warnings
part format oxfmt --check
part 'dead code' knip
part 'generated documents' node scripts/docs.ts --check
part 'rules of the API document' env REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true redocly lint lodge
part 'breaks of the API' node scripts/openapi-breaks.ts
part 'shell syntax' shell_syntax
finish_parts
