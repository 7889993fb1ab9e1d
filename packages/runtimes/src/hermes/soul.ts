/**
 * Keeps the agent's instructions within SOUL.md, from which Hermes reads its identity: a separate block behind the text of
 * the agent or its owner.
 */
import { GuestError, maxExecTimeoutMs } from '@lodge/guest';
import { isNoText } from '../root-file.ts';
import { workspacePath } from './config.ts';
import type { HermesGuest } from './gateway.ts';

const path = `${workspacePath}/SOUL.md`;
const begin = '<!-- Instructions of the agent, set by API: changes in this block are lost. -->';
const end = '<!-- End of the instructions set by API. -->';
const scriptTimeoutMs = 60_000;
/** Longest SOUL.md. A longer text fits into no prompt, so it is renamed, and the agent may copy parts from it. */
const maxSoulBytes = 1024 * 1024;
const asidePath = `${path}.too-long`;

/** Returns `text` with these instructions instead of earlier ones. */
export function withInstructions(text: string, instructions: string | null): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  // A block that lost its end goes to the end of the file.
  const own = from < 0 ? text : text.slice(0, from) + (to < 0 ? '' : text.slice(to + end.length));
  const kept = own.trimEnd();
  if (instructions === null) return kept === '' ? '' : `${kept}\n`;
  return `${kept === '' ? '' : `${kept}\n\n`}${begin}\n${instructions.trim()}\n${end}\n`;
}

/**
 * Deletes stored system prompts that were made from another SOUL.md. Their conversations make new ones with their next turn.
 */
const forgetPrompts = `
import os, sqlite3
soul = open('${path}', encoding='utf-8', errors='replace').read(${maxSoulBytes}).strip() if os.path.isfile('${path}') else ''
db = sqlite3.connect('${workspacePath}/state.db', timeout=20)
db.execute("update sessions set system_prompt = null where system_prompt is not null and (?1 = '' or instr(system_prompt, ?1) = 0)", (soul,))
db.commit()
`;

export async function applyInstructions(
  { guest }: HermesGuest,
  instructions: string | null,
  signal: AbortSignal,
): Promise<void> {
  const text = await guest.readFile(path, { signal, maxBytes: maxSoulBytes }).then(
    (bytes) => Buffer.from(bytes).toString('utf8'),
    async (error: unknown) => {
      if (error instanceof GuestError && error.status === 404) return '';
      if (!isNoText(error)) throw error;
      await run(guest, ['mv', '-fT', path, asidePath], signal);
      return '';
    },
  );
  const wanted = withInstructions(text, instructions);
  if (wanted !== text) await guest.writeFile(path, wanted, { mode: 0o644, owner: 'agent' }, { signal });
  await run(guest, ['/opt/hermes/bin/python', '-c', forgetPrompts], signal);
}

async function run(guest: HermesGuest['guest'], argv: readonly string[], signal: AbortSignal): Promise<void> {
  const { exitCode, stderr } = await guest.exec(
    { argv, timeoutMs: Math.min(maxExecTimeoutMs, scriptTimeoutMs * guest.pace) },
    { signal },
  );
  if (exitCode !== 0) throw new Error(`Hermes could not be told its new instructions: ${stderr.trim().slice(0, 500)}`);
}
