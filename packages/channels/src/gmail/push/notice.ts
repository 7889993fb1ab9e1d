/** What Gmail publishes: `{"emailAddress": "...", "historyId": "..."}` in base64. Of it only the address is read. */
import { boundedJson } from '@lodge/domain';

const maxDataChars = 4_096;
const bounds = { bytes: maxDataChars, depth: 4, elements: 32 };
/** RFC 5321: 64 before the @, 255 behind it. */
const maxAddressChars = 320;

/** The mailbox that a notice names, in lower case; null: it is no notice of Gmail. */
export function addressIn(data: unknown): string | null {
  if (typeof data !== 'string' || data.length > maxDataChars) return null;
  try {
    const notice = boundedJson(Buffer.from(data, 'base64'), bounds) as { readonly emailAddress?: unknown } | null;
    const address = notice?.emailAddress;
    if (typeof address !== 'string' || address.length > maxAddressChars) return null;
    return /^[^\s\p{C}]+$/u.test(address) && address.includes('@') ? address.toLowerCase() : null;
  } catch {
    return null;
  }
}
