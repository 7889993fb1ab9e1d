import { trimEndOf } from '@lodge/domain';
import { GuestError, type GuestClient } from '@lodge/guest';

const begin =
  "<!-- Instructions of this agent's owner. What stands between these two marks is replaced when they change. -->";
const end = "<!-- End of the owner's instructions. -->";

/**
 * Keeps the owner's text as a block at the head of a file that otherwise is the agent's own. Null removes the block, and the
 * file when nothing else is in it. A fitting file is not rewritten, and the agent's text around the block stays. Runs as the
 * agent, so a link of the agent's leads nowhere that it could not go itself.
 */
export async function keepOwnerText(
  guest: Pick<GuestClient, 'exec' | 'pace'>,
  path: string,
  text: string | null,
  signal: AbortSignal,
): Promise<void> {
  const block = text === null ? '' : `${begin}\n${trimEndOf(text, '\n')}\n${end}\n`;
  const argv = ['sh', '-c', script, 'sh', path, begin, end];
  const { exitCode, stderr } = await guest.exec({ argv, stdin: block, timeoutMs: 30_000 * guest.pace }, { signal });
  if (exitCode !== 0) throw new GuestError(200, `${path} could not be written: ${stderr.trim().slice(0, 500)}`);
}

/** Makes the new file beside the old one and renames it, so an interruption leaves one of them. */
const script = `
set -eu
umask 022
dir=$(dirname "$1")
mkdir -p "$dir"
new=$(mktemp "$dir/.lodge-XXXXXX")
trap 'rm -f "$new"' EXIT
cat > "$new"
if [ -f "$1" ]; then
  awk -v begin="$2" -v end="$3" '
    { line[NR] = $0 }
    $0 == begin && !first { first = NR }
    $0 == end && first { last = NR }
    END { for (n = 1; n <= NR; n++) if (!last || n < first || n > last) print line[n] }
  ' "$1" >> "$new"
  if cmp -s "$new" "$1"; then exit 0; fi
fi
if [ -s "$new" ]; then
  chmod 644 "$new"
  mv -f "$new" "$1"
else
  rm -f "$1"
fi
`;
