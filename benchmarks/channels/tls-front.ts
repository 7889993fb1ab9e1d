/**
 * TLS in front of a stub, as real platforms have it, because its client pays for it. The certificate is made for this run.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createServer } from 'node:tls';

export interface TlsFront {
  readonly url: string;
  /** File for `NODE_EXTRA_CA_CERTS`. */
  readonly certificateFile: string;
  close(): Promise<void>;
}

export async function startTlsFront(url: string): Promise<TlsFront> {
  const dir = await mkdtemp(join(tmpdir(), 'tls-front-'));
  const [keyFile, certificateFile] = [join(dir, 'key.pem'), join(dir, 'certificate.pem')];
  const of = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1'.split(' ');
  const names = ['-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', ...of, ...names, '-keyout', keyFile, '-out', certificateFile], {
    stdio: 'ignore',
  });
  const port = Number(new URL(url).port);
  const server = createServer({ key: readFileSync(keyFile), cert: readFileSync(certificateFile) }, (socket) => {
    const behind = connect(port, '127.0.0.1');
    pipeline(socket, behind, () => undefined);
    pipeline(behind, socket, () => undefined);
  });
  server.listen(0, '127.0.0.1', 4_096);
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    certificateFile,
    async close() {
      server.close();
      await rm(dir, { recursive: true });
    },
  };
}
