import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A network range for one Lodge under test: a /20, which has room for 1,023 VMs. Test files side by side never get the same
 * one, for a socket of this process holds it; the kernel frees it however the process ends.
 */
export async function claimNetworkRange(): Promise<string> {
  for (;;) {
    const range = `10.${randomInt(210, 250)}.${randomInt(16) * 16}.0/20`;
    const claim = createServer().unref();
    claim.listen({ path: `\0lodge-test-${range}` });
    try {
      await once(claim, 'listening');
      return range;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}
