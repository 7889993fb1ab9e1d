import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Zone } from './name-server.ts';
import { letGo } from './shell.ts';

export interface Names {
  /** Every name that was asked for, in order. */
  readonly asked: readonly string[];
  /** Puts these records in the place of those that the names had. */
  add(zone: Zone): void;
}

/** Starts a name server at an address of the world's `internet`. */
export async function serveNames(address: string, zone: Zone): Promise<Names> {
  const script = new URL('name-server.ts', import.meta.url).pathname;
  const argv = [process.execPath, script, JSON.stringify({ address, zone })];
  const child = spawn('nsenter', ['--net=/run/netns/internet', ...argv], { stdio: ['pipe', 'pipe', 'inherit'] });
  const asked: string[] = [];
  const lines = createInterface(child.stdout);
  await once(lines, 'line');
  lines.on('line', (line) => asked.push((JSON.parse(line) as { name: string }).name));
  letGo(child);
  return { asked, add: (more) => child.stdin.write(`${JSON.stringify(more)}\n`) };
}
