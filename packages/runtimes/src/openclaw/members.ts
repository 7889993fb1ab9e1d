/**
 * Members: further OpenClaw agents in the same gateway, each with its own workspace, sessions and instructions. Their names
 * are their ids in OpenClaw. The present members are read from OpenClaw's configuration, so an agent without members costs
 * no call of the gateway. Changes go through the gateway's RPC, which applies them without a restart.
 */
import { asObject, boundedJson, textBounds } from '@lodge/domain';
import type { MemberSettings } from '@lodge/ports';
import { GuestError, maxExecTimeoutMs, type GuestClient } from '@lodge/guest';
import { GatewayError } from '../gateway/calls.ts';
import { until } from '../guest-runtime.ts';
import { agentsFolder, configPath, mainAgent, memberEntry, workspaceOf } from './config.ts';
import type { OpenclawGuest } from './gateway.ts';

/**
 * Bounds, each times the host's pace. Without KVM the first of each call takes OpenClaw about a minute, and longer beside
 * other work.
 */
const rpcTimeoutMs = 150_000;
/** OpenClaw removes a member's name first and its files at the end. */
const deleteTimeoutMs = 240_000;
const filesTimeoutMs = 60_000;
const filesBoundMs = ({ pace }: Pick<GuestClient, 'pace'>): number => Math.min(maxExecTimeoutMs, filesTimeoutMs * pace);

/** Makes the gateway's members equal to the wanted ones. It may be interrupted at any point and repeated. */
export async function bringMembers(
  runtime: OpenclawGuest,
  wanted: readonly Pick<MemberSettings, 'name'>[],
  signal: AbortSignal,
): Promise<void> {
  const names = wanted.map(({ name }) => name);
  const there = await membersThere(runtime, signal);
  const surplus = [...there.keys()].filter((name) => !names.includes(name));
  const missing = names.filter((name) => !there.has(name));
  const unfinished = names.filter((name) => there.get(name) !== 'finished');
  for (const name of surplus) await remove(runtime, name, signal);
  for (const name of missing) await create(runtime, name, signal);
  if (unfinished.length > 0) await finish(runtime, unfinished, signal);
  if (surplus.length + unfinished.length > 0) await awaitRoster(runtime, names, signal);
  // Files that no member owns any more. After an interrupted removal a name may be gone and its files still there.
  await removeRemains(runtime, names, signal);
}

/** Returns the members in OpenClaw's configuration. One is finished once it has its list of tools. */
async function membersThere(
  { guest }: OpenclawGuest,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, 'finished' | 'begun'>> {
  const bounds = textBounds.runtimeConfig;
  const bytes = await guest.readFile(configPath, { signal, maxBytes: bounds.bytes });
  let config: unknown;
  try {
    config = boundedJson(bytes, bounds);
  } catch (cause) {
    throw new GuestError(200, "OpenClaw's configuration in the guest is not JSON, or too large", { cause });
  }
  const entries = asObject(asObject(asObject(config)?.['agents'])?.['entries']) ?? {};
  const members = Object.entries(entries).filter(([name]) => name !== mainAgent);
  return new Map(members.map(([name, entry]) => [name, asObject(entry)?.['tools'] ? 'finished' : 'begun']));
}

/**
 * Creates a member without tools. OpenClaw keeps a mark of every agent that it deleted, and `agents.create` alone takes it
 * off. A member of the same name that came by the configuration would break every turn of the gateway.
 */
async function create(runtime: OpenclawGuest, name: string, signal: AbortSignal): Promise<void> {
  const options = { timeoutMs: rpcTimeoutMs * runtime.guest.pace, signal };
  const attempt = (): Promise<unknown> =>
    runtime.gateway.rpc('agents.create', { name, workspace: workspaceOf(name) }, options);
  try {
    await attempt();
  } catch (error) {
    if (isRefusal(error, /already exists/)) return;
    if (!isRefusal(error, /deletion cleanup is still pending/)) throw error;
    await remove(runtime, name, signal);
    await attempt();
  }
}

const isRefusal = (error: unknown, said: RegExp): boolean => error instanceof GatewayError && said.test(error.message);

/** Gives created members their tools, in one change. */
async function finish({ guest, gateway }: OpenclawGuest, names: readonly string[], signal: AbortSignal): Promise<void> {
  const options = { timeoutMs: rpcTimeoutMs * guest.pace, signal };
  const { hash } = await gateway.rpc('config.get', {}, options);
  const entries = Object.fromEntries(names.map((name) => [name, memberEntry(name)]));
  await gateway.rpc('config.patch', { raw: JSON.stringify({ agents: { entries } }), baseHash: hash }, options);
}

/** Removes a member. Its sessions go to OpenClaw's trash, and from there with the remains. */
async function remove({ gateway, guest }: OpenclawGuest, name: string, signal: AbortSignal): Promise<void> {
  await guest.exec({ argv: ['rm', '-rf', workspaceOf(name)], timeoutMs: filesBoundMs(guest) }, { signal });
  const options = { timeoutMs: deleteTimeoutMs * guest.pace, signal };
  try {
    await gateway.rpc('agents.delete', { agentId: name, deleteFiles: true }, options);
  } catch (error) {
    if (!isRefusal(error, /not found/)) throw error;
  }
}

/**
 * Waits until the gateway lists the change, which is then in effect. The gateway reads its configuration a moment after it
 * was written.
 */
async function awaitRoster(runtime: OpenclawGuest, names: readonly string[], signal: AbortSignal): Promise<void> {
  const roster = [mainAgent, ...names].toSorted().join();
  const wait = {
    what: 'take its members',
    timeoutMs: rpcTimeoutMs * runtime.guest.pace,
    pauseMs: 250,
    attemptMs: 30_000,
    signal,
  };
  await until(runtime, wait, async (options) => {
    const { agents } = await runtime.gateway.rpc('agents.list', {}, options);
    const listed = Array.isArray(agents)
      ? agents.map((agent) => asObject(agent)?.['id']).filter((id) => typeof id === 'string')
      : [];
    return listed.toSorted().join() === roster ? {} : `it lists ${listed.join(', ').slice(0, 200)}`;
  });
}

async function removeRemains({ guest }: OpenclawGuest, names: readonly string[], signal: AbortSignal): Promise<void> {
  const argv = ['sh', '-c', remains, 'sh', agentsFolder, mainAgent, ...names];
  await guest.exec({ argv, timeoutMs: filesBoundMs(guest) }, { signal });
}

const remains = `
cd "$1" || exit 0
rm -rf "$HOME"/.Trash/.fs-safe-trash-*
for folder in *; do
  for kept in "$@"; do [ "$folder" = "$kept" ] && continue 2; done
  rm -rf -- "$folder"
done
`;
