import { hostTools } from '../host-tools.ts';
import { templateCalls } from '../template.ts';
import { warmupTool } from '../warmup-mcp.ts';
import { authProfiles, authProfilesName } from './config.ts';
import { configPath, guestApis, mainAgent, modelFor, openclawConfig, workspaceOf } from './config.ts';
import { openclawGuest, openclawOf, readFacts } from './gateway.ts';
import type { OpenclawFacts, OpenclawGuest } from './gateway.ts';
import { resume, suspend } from './suspension.ts';

const suspendTimeoutMs = 90_000;
const scratch = '/tmp/lodge-warm-up';

/**
 * The templates of OpenClaw. It is ready 9-22 s after its start natively, and minutes after it under emulation. Its guests are
 * suspended: the gateway closes its door and finishes its work.
 *
 * OpenClaw's worker threads, which a first turn pays for, are in the template too. The image keeps OpenClaw from ending idle
 * ones.
 */
export const openclawTemplates = templateCalls<OpenclawGuest>({
  inGuest: openclawGuest,
  async configure({ guest, token }, signal) {
    const secret = { mode: 0o600, owner: 'agent' } as const;
    await guest.writeFile(`${workspaceOf(mainAgent)}/${authProfilesName}`, authProfiles, secret, { signal });
    await guest.writeFile(configPath, openclawConfig(token), secret, { signal });
  },
  async reopen(guest, facts, signal) {
    const runtime = openclawOf(guest, facts);
    await resume(runtime, readFacts(facts).suspensionId, signal);
    return runtime;
  },
  async rest(runtime, { progress, signal }) {
    progress('suspending OpenClaw');
    const suspensionId = await suspend(runtime, suspendTimeoutMs, signal, { awaitUpkeep: true });
    return { token: runtime.token, suspensionId, apis: guestApis, pictures: true } satisfies OpenclawFacts;
  },
  earlyVariant: '1',
  apis: guestApis,
  modelFor,
  toolRounds: [
    [
      { name: 'write', args: { path: scratch, content: 'warm' } },
      { name: 'ls', args: {} },
      { name: `${hostTools}__${warmupTool}`, args: {} },
    ],
    [{ name: 'exec', args: { command: `rm -f ${scratch}` } }],
  ],
});
