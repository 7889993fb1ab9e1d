import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate of its own for localhost, in PEM. */
export function selfSigned(): { readonly cert: Buffer; readonly key: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'lodge-tls-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  const made = { cert: readFileSync(cert), key: readFileSync(key) };
  rmSync(folder, { recursive: true });
  return made;
}
