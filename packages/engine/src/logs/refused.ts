/** Makes lines of an agent's log of the connections that its egress rules refused. */
import type { EgressMode } from '@lodge/domain';
import type { NewLogEntry, RefusedConnection, VmDriver } from '@lodge/ports';
import { LineCleaner } from './lines.ts';

/** Lines of one round; equal refusals share one. */
const mostLines = 20;

type Refused = Awaited<ReturnType<VmDriver['readRefused']>>;

export function refusedEntries({ refused, more }: Refused, mode: EgressMode): NewLogEntry[] {
  const lines = new Map<string, { readonly at: Date; count: number }>();
  let unlogged = more;
  for (const connection of refused) {
    const sentence = sentenceOf(connection, mode);
    const line = lines.get(sentence);
    if (line) line.count += 1;
    else if (lines.size < mostLines) lines.set(sentence, { at: connection.at, count: 1 });
    else unlogged += 1;
  }
  const entries = [...lines].flatMap(([sentence, { at, count }]) => {
    // Each message has its own cleaner: no name that a guest asks for may hide the lines after it.
    const message = new LineCleaner().clean(count === 1 ? sentence : `${sentence} (${count} times)`);
    return message === null ? [] : [entryOf(message, at)];
  });
  return unlogged === 0 ? entries : [...entries, entryOf(`Refused: ${unlogged} more.`)];
}

const entryOf = (message: string, at?: Date): NewLogEntry => ({
  level: 'warn',
  source: 'egress',
  message,
  ...(at && { at }),
});

function sentenceOf({ protocol, address, port, name }: RefusedConnection, mode: EgressMode): string {
  const place = port === null ? address : `${address}:${port}`;
  const what = protocol === 'dns' ? `the name ${name}` : `${protocol} ${place}`;
  switch (mode) {
    case 'allowlist':
      return `Refused: ${what} is not on the agent's allow list.`;
    case 'none':
      return `Refused: ${what}, for the agent may reach nothing but its model broker.`;
    case 'public':
      return `Refused: ${what} is no public address.`;
  }
}
