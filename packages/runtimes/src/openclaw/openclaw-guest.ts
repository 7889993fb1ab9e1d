import type { GuestAddress } from '@lodge/ports';
import { guestRuntime, type GuestRuntime } from '../guest-runtime.ts';
import { hostTools } from '../host-tools.ts';
import type { ToolRounds } from '../warmup-llm.ts';
import { warmupTool } from '../warmup-mcp.ts';
import { Gateway } from './gateway.ts';

export type OpenclawGuest = GuestRuntime<Gateway>;

export function openclawGuest(guest: GuestAddress, token: string): OpenclawGuest {
  return guestRuntime('OpenClaw', guest, token, new Gateway(guest.address, token));
}

const scratch = '/tmp/lodge-warm-up';

/** The tool calls of a template's warm-up, in OpenClaw's names. */
export const toolRounds: ToolRounds = [
  [
    { name: 'write', args: { path: scratch, content: 'warm' } },
    { name: 'ls', args: {} },
    { name: `${hostTools}__${warmupTool}`, args: {} },
  ],
  [{ name: 'exec', args: { command: `rm -f ${scratch}` } }],
];
