import { spawnSync } from 'node:child_process';

const inside = 'TEST_PRIVATE_HOST';

/**
 * Gives a test file a private host: its own network, namespaces, process ids and tap device. So nothing that it does is
 * visible outside, no packet leaves, and everything ends with it, in every case. Call it first in the file with
 * `import.meta.filename`. Outside, it runs the file again, inside, and ends with its status; inside, it returns. The
 * runner's reporter is passed on, because standard output and environment are the file's own.
 */
export function enterPrivateHost(file: string): void {
  if (process.env[inside] !== undefined) return;
  const prepare = `
mkdir -p /run/netns
mount -t tmpfs tmpfs /run/netns
mount -t tmpfs tmpfs /dev/net
mknod -m 0666 /dev/net/tun c 10 200
echo 0 > /proc/sys/net/ipv4/ip_forward
ip link set lo up
exec "$@"`;
  const unshare = ['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const { status, error } = spawnSync(
    'setpriv',
    ['--pdeathsig', 'KILL', ...unshare, 'sh', '-euc', prepare, 'sh', process.execPath, ...process.execArgv, file],
    { stdio: 'inherit', env: { ...process.env, [inside]: '1' } },
  );
  if (error !== undefined) throw error;
  process.exit(status ?? 1);
}
