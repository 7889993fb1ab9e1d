/**
 * The system's keyring, in a process of its own: its calls block the process that makes them, for as long as the keyring asks its
 * owner, or for ever. The question and the key go through pipes.
 */
import { execFile } from 'node:child_process';

export type Question =
  | { readonly operation: 'get' | 'delete'; readonly account: string }
  | { readonly operation: 'set'; readonly account: string; readonly key: string };

export interface Said {
  /** The key that is kept now; null where there is none. */
  readonly key: string | null;
}

const service = 'lodge';
const maxReplyBytes = 64 * 1024;

/** The hidden command that answers in the other process. */
const keyringCommand = '__keyring';

/** Asks another process, and ends it when it says nothing in time; undefined where nothing was said. */
export function askKeyring(question: Question, timeoutMs: number): Promise<Said | undefined> {
  const options = { timeout: timeoutMs, killSignal: 'SIGKILL' as const, maxBuffer: maxReplyBytes };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [process.argv[1]!, keyringCommand], options, (error, stdout) => {
      resolve(error ? undefined : parsed(stdout));
    });
    child.stdin!.on('error', () => undefined);
    child.stdin!.end(JSON.stringify(question));
  });
}

function parsed(text: string): Said | undefined {
  try {
    const { key } = JSON.parse(text) as { readonly key?: unknown };
    return { key: typeof key === 'string' ? key : null };
  } catch {
    return undefined;
  }
}

/** Does what was asked, in this process. The kernel's keyring, which Linux falls back to, is empty after the next start. */
export async function answerFromKeyring(question: Question): Promise<Said> {
  const { Entry } = await import('@napi-rs/keyring');
  const entry = new Entry(service, question.account, { linux: { store: 'secret-service' } });
  if (question.operation === 'set') entry.setPassword(question.key);
  if (question.operation === 'delete') entry.deleteCredential();
  return { key: entry.getPassword() };
}
