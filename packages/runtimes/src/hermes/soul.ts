/**
 * The agent's instructions within SOUL.md, where Hermes reads who it is: a block of its own behind what the agent or its
 * owner wrote there.
 */
import { GuestError } from '@lodge/guest';
import { workspacePath } from './config.ts';
import type { HermesGuest } from './gateway.ts';

const path = `${workspacePath}/SOUL.md`;
const begin = '<!-- Instructions of the agent, set by API: changes in this block are lost. -->';
const end = '<!-- End of the instructions set by API. -->';
const scriptTimeoutMs = 60_000;
/** A text that is longer fits into no prompt. */
const maxSoulBytes = 1024 * 1024;

/** `text` with these instructions, and no earlier ones. */
export function withInstructions(text: string, instructions: string | null): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  // A block that lost its end goes to the end of the file.
  const own = from < 0 ? text : text.slice(0, from) + (to < 0 ? '' : text.slice(to + end.length));
  const kept = own.trimEnd();
  if (instructions === null) return kept === '' ? '' : `${kept}\n`;
  return `${kept === '' ? '' : `${kept}\n\n`}${begin}\n${instructions.trim()}\n${end}\n`;
}

/** Hermes keeps the system prompt of each conversation: those made from another SOUL.md are made anew by their next turn. */
const forgetPrompts = `
import sqlite3, sys
soul = open('${path}', encoding='utf-8').read().strip()
db = sqlite3.connect('${workspacePath}/state.db', timeout=20)
db.execute("update sessions set system_prompt = null where system_prompt is not null and instr(system_prompt, ?) = 0", (soul,))
db.commit()
`;

export async function applyInstructions(
  { guest }: HermesGuest,
  instructions: string | null,
  signal: AbortSignal,
): Promise<void> {
  const text = await guest.readFile(path, { signal, maxBytes: maxSoulBytes }).then(
    (bytes) => Buffer.from(bytes).toString('utf8'),
    (error: unknown) => {
      if (error instanceof GuestError && error.status === 404) return '';
      throw error;
    },
  );
  const wanted = withInstructions(text, instructions);
  if (wanted !== text) await guest.writeFile(path, wanted, { mode: 0o644, owner: 'agent' }, { signal });
  const argv = ['/opt/hermes/bin/python', '-c', forgetPrompts];
  const { exitCode, stderr } = await guest.exec({ argv, timeoutMs: scriptTimeoutMs }, { signal });
  if (exitCode !== 0) throw new Error(`Hermes's conversations could not be told their new instructions: ${stderr}`);
}
