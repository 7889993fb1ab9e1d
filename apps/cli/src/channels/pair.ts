/** `lodge channels pair`: WhatsApp's code, drawn in the terminal and renewed until a phone has scanned it. */
import type { Pairing } from '@lodge/sdk';
import { agentIdOf } from '../agent-of.ts';
import { CommandError, exitCodes } from '../failure.ts';
import type { Run } from '../run.ts';
import { safeLine } from '../terminal/safe.ts';

/** A code of WhatsApp has some 240 characters. */
const maxCodeChars = 2000;

export async function pair(run: Run, { phone }: { readonly phone?: string }, agent: string): Promise<void> {
  const id = await agentIdOf(run, agent);
  const lodge = await run.lodge();
  let shown: string | null = null;
  for await (const state of lodge.channels.pairWhatsApp(
    id,
    phone === undefined ? {} : { phone_number: phone },
    run.call,
  )) {
    const { status, reason } = state;
    if (run.out.isJson) run.out.item(state, () => '');
    else if (status === 'connected') run.out.write('WhatsApp is connected.\n');
    else if (status === 'pending') shown = await show(run, state, shown);
    if (status === 'failed')
      throw new CommandError(
        exitCodes.failure,
        reason?.message ?? 'The phone was not paired.',
        'Begin again with `lodge channels pair`.',
      );
  }
}

async function show(run: Run, { qr, pairing_code: code }: Pairing, shown: string | null): Promise<string | null> {
  const next = code ?? qr;
  if (next === null || next === shown) return shown;
  if (code !== null) {
    run.out.write(`${safeLine(code)}\n`);
    run.out.note('On the phone: WhatsApp, Linked devices, Link a device, Link with phone number instead.');
    return next;
  }
  if (next.length > maxCodeChars) throw new CommandError(exitCodes.failure, 'The server sent a code that is too long.');
  const { renderUnicodeCompact } = await import('uqr');
  run.out.write(`\n${renderUnicodeCompact(next, { border: 2, ecc: 'L' })}\n`);
  run.out.note('On the phone: WhatsApp, Linked devices, Link a device, and scan this. A new code comes by itself.');
  return next;
}
