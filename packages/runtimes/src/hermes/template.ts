import { hostTools } from '../host-tools.ts';
import { templateCalls } from '../template.ts';
import { warmupTool } from '../warmup-mcp.ts';
import { configFiles, gatewaySettingsPath, hermesConfig, hermesEnv, routeFor } from './config.ts';
import { awaitIdle, hermesGuest, hermesOf } from './gateway.ts';
import type { HermesFacts, HermesGuest } from './gateway.ts';

const idleTimeoutMs = 90_000;
const scratch = '/tmp/lodge-warm-up';

/** The templates of Hermes. There is no suspension, because a gateway without work does nothing. */
export const hermesTemplates = templateCalls<HermesGuest>({
  inGuest: hermesGuest,
  async configure({ guest, token }, signal) {
    const write = (path: string, text: string): Promise<void> =>
      guest.writeFile(path, text, { mode: 0o600, owner: 'agent' }, { signal });
    const [configPath, envPath] = configFiles;
    await write(configPath, hermesConfig());
    await write(envPath, hermesEnv);
    await write(gatewaySettingsPath, `export API_SERVER_KEY=${token}\n`);
  },
  reopen: async (guest, facts) => hermesOf(guest, facts),
  async rest(runtime, { signal }) {
    await awaitIdle(runtime, idleTimeoutMs, signal);
    return { token: runtime.token, pictures: true } satisfies HermesFacts;
  },
  earlyVariant: '1',
  apis: ['anthropic-messages', 'openai-completions'],
  modelFor: routeFor,
  toolRounds: [
    [
      { name: 'write_file', args: { path: scratch, content: 'warm' } },
      { name: 'read_file', args: { path: scratch } },
      { name: `mcp__${hostTools}__${warmupTool}`, args: {} },
    ],
    [{ name: 'terminal', args: { command: `rm -f ${scratch}` } }],
  ],
});
