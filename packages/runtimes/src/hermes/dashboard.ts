/**
 * Hermes's dashboard, a process beside the gateway. It admits sessions of its basic login. The login's secret is derived
 * from the gateway's token, so the host makes a session for each request that needs one, and nobody logs in.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dial, WebEndpoint } from '@lodge/ports';
import { originAt, send } from '../gateway/connection.ts';
import { dashboardPort, dashboardSettingsPath, hostFolder } from './config.ts';
import type { HermesGuest } from './gateway.ts';

const user = 'lodge';
const sessionSeconds = 12 * 60 * 60;
const pollMs = 250;
const attemptMs = 5_000;

const derived = (token: string, purpose: string): Buffer => createHmac('sha256', token).update(purpose).digest();

/** Returns the environment that its start script reads. */
function settings(token: string): string {
  const values = {
    USERNAME: user,
    PASSWORD: derived(token, 'dashboard password').toString('hex'),
    SECRET: derived(token, 'dashboard secret').toString('base64'),
  };
  return Object.entries(values)
    .map(([name, value]) => `export HERMES_DASHBOARD_BASIC_AUTH_${name}='${value}'\n`)
    .join('');
}

/** Makes a session in the dashboard's own form: the payload and its signature, in base64 with padding. */
function session(token: string, nowMs: number): string {
  const payload = JSON.stringify({ sub: user, kind: 'access', exp: Math.floor(nowMs / 1000) + sessionSeconds });
  const signature = createHmac('sha256', derived(token, 'dashboard secret')).update(payload).digest();
  const text = Buffer.concat([Buffer.from(payload), signature]).toString('base64');
  return text.replaceAll('+', '-').replaceAll('/', '_');
}

export function dashboardEndpoint(token: string): WebEndpoint {
  const cookie = `hermes_session_at=${session(token, Date.now())}; hermes_session_provider=basic`;
  return { port: dashboardPort, headers: { cookie } };
}

/**
 * Starts the dashboard. The script does nothing when one runs already, and ends with the settings. The command ends once the
 * script has a session of its own, because only then the pipe is closed. A process without its own session would end with
 * its command.
 */
const start = `: "$(setsid --fork sh -c 'exec /opt/hermes/bin/dashboard > /dev/null 2>&1' < /dev/null)"`;
/**
 * Ends the dashboard and waits for its start script. A start right after it would otherwise take the script for a running
 * dashboard.
 */
const end = [
  `cd ${hostFolder} && rm -f dashboard.env`,
  'if [ -e dashboard.pid ]; then kill "$(cat dashboard.pid)" || :; rm -f dashboard.pid; fi',
  'flock --wait 15 dashboard.lock true',
].join('\n');

export async function applyDashboard(
  { guest, token }: HermesGuest,
  dial: Dial,
  wanted: boolean,
  signal: AbortSignal,
): Promise<void> {
  const run = async (script: string): Promise<void> => {
    const { exitCode, stderr } = await guest.exec(
      { argv: ['sh', '-c', script], timeoutMs: attemptMs * 4 * guest.pace },
      { signal },
    );
    if (exitCode !== 0) throw new Error(`Hermes's dashboard could not be started or ended: ${stderr}`);
  };
  if (!wanted) return run(end);
  await guest.writeFile(dashboardSettingsPath, settings(token), { mode: 0o600, owner: 'agent' }, { signal });
  await run(start);
  while (!(await serves(dial, signal))) await sleep(pollMs, undefined, { signal });
}

async function serves(dial: Dial, signal: AbortSignal): Promise<boolean> {
  try {
    const bound = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
    const asked = { method: 'GET', headers: {}, body: undefined, signal: bound } as const;
    const reply = await send(dial, `${originAt(dashboardPort)}/api/status`, asked);
    await reply.body.dump();
    return reply.statusCode === 200;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
