import { type ChildProcess, execFile } from 'node:child_process';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs a tool in a network namespace, or in the test's own (null); resolves to its standard output. */
export async function inNamespace(
  namespace: string | null,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const enter = namespace === null ? [] : ['nsenter', `--net=/run/netns/${namespace}`];
  const [file = '', ...args] = [...enter, ...argv];
  const { stdout } = await execute(file, args, { env: { ...process.env, ...env }, timeout: 60_000 });
  return stdout;
}

/** One line of `ip` after the other. */
export async function ip(namespace: string | null, ...lines: string[]): Promise<void> {
  for (const line of lines) await inNamespace(namespace, ['ip', ...line.split(' ')]);
}

export async function nft(namespace: string | null, text: string): Promise<void> {
  await inNamespace(namespace, ['sh', '-c', 'printf %s "$1" | nft -f -', 'sh', text]);
}

export async function sysctl(namespace: string | null, values: Readonly<Record<string, number>>): Promise<void> {
  for (const [key, value] of Object.entries(values)) {
    const path = `/proc/sys/net/${key}`;
    await inNamespace(namespace, ['sh', '-c', 'echo "$1" > "$2"', 'sh', String(value), path]);
  }
}

export async function linkAddress(namespace: string | null, link: string): Promise<string> {
  const answer = await inNamespace(namespace, ['ip', '-json', 'link', 'show', 'dev', link]);
  return (JSON.parse(answer) as { address: string }[])[0]!.address;
}

/** Keeps a child from keeping the test's process alive: with that the private host ends, and every process on it. */
export function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of child.stdio) (stream as Socket | null | undefined)?.unref?.();
}
