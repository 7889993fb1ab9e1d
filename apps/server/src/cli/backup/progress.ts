import type { Progress } from '@lodge/backup';

const everyMs = 10_000;
const terminalMs = 500;

/** Says how far a backup has come: in one line of a terminal, elsewhere in a line each ten seconds. */
export function progressTeller(stream: NodeJS.WriteStream): (progress: Progress) => void {
  let last = performance.now();
  return ({ doneBytes, totalBytes }) => {
    const isOver = doneBytes >= totalBytes;
    if (isOver && stream.isTTY) stream.write('\r\u001b[K');
    const now = performance.now();
    if (isOver || now - last < (stream.isTTY ? terminalMs : everyMs)) return;
    last = now;
    const [done, total] = [doneBytes, totalBytes].map((bytes) => Math.round(bytes / 2 ** 20));
    const text = `  ${Math.floor((100 * doneBytes) / totalBytes)} %: ${done} of ${total} MiB read`;
    stream.write(stream.isTTY ? `\r${text}\u001b[K` : `${text}\n`);
  };
}
