/** The chain by which WhatsApp's server proves its static key: root, intermediate, leaf. */
import { Curve, proto } from 'baileys';
import type { KeyPair } from './curve.ts';

export interface Chain {
  /** Signs the intermediate certificate. Its public key is what clients trust. */
  readonly root: KeyPair;
  readonly intermediate: KeyPair;
  /** Which key the leaf speaks for: the server's static one. */
  readonly leafKey: Uint8Array;
}

const { Details } = proto.CertChain.NoiseCertificate;
const notBefore = 1;
const notAfter = 4_000_000_000;

/** The encoded chain. Signatures have random bytes in them: no two are the same. */
export function chainOf({ root, intermediate, leafKey }: Chain): Buffer {
  const middle = Details.encode({
    serial: 2,
    issuerSerial: 0,
    key: intermediate.public,
    notBefore,
    notAfter,
  }).finish();
  const leaf = Details.encode({ serial: 3, issuerSerial: 2, key: leafKey, notBefore, notAfter }).finish();
  return Buffer.from(
    proto.CertChain.encode({
      intermediate: { details: middle, signature: Curve.sign(root.private, middle) },
      leaf: { details: leaf, signature: Curve.sign(intermediate.private, leaf) },
    }).finish(),
  );
}
