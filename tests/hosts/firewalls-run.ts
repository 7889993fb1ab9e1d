/** Runs `firewalls.ts` in a distribution's own file system, with its own versions of nft, iptables and the firewalls. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { firewallPackages, type Distribution } from './distributions.ts';
import { enter, layTree } from './host-machine.ts';

const timeoutMs = 20 * 60_000;

export async function tryFirewalls(
  distribution: Distribution,
  { checkout, cacheDir, log }: { readonly checkout: string; readonly cacheDir: string; readonly log: string },
): Promise<void> {
  const root = await layTree(distribution, firewallPackages, cacheDir);
  try {
    await using output = await open(log, 'a');
    const apart = ['--mount', '--pid', '--fork', '--uts', '--net', '--kill-child=KILL'];
    const argv = [process.execPath, join(checkout, 'tests/hosts/firewalls.ts')];
    const child = spawn('unshare', [...apart, 'sh', '-c', enter, 'sh', root, ...argv], {
      env: { ...process.env, CHECKOUT: checkout },
      stdio: ['ignore', output.fd, output.fd],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (code !== 0) throw new Error(`the firewalls' test ended with ${code ?? signal}`);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
