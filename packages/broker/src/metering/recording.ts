/** Gathers the contents of one call as they pass, for an account that records them. */
import { callContentContext } from '@lodge/ports';
import type { Redact } from './redact.ts';
import type { CallContent, SecretBox, SealedContent } from '@lodge/ports';

/** Bytes of a request, and of a response, that are kept. */
const maxBytes = 256 * 1024;

/** Longest key or header, in the longest of its spellings. */
const maxSecretBytes = 32 * 1024;

export class Recording {
  readonly #request = new Part();
  readonly #response = new Part();

  /** The request's body, of which no more is looked at than can be kept. */
  ask(body: Buffer, redact: Redact): void {
    // Behind what is kept there is room for the rest of a secret that begins within.
    this.#request.add(redact(body.toString('utf8', 0, maxBytes + maxSecretBytes)));
  }

  /** A reply, or an event of a stream, without secrets. */
  answer(clean: Uint8Array): void {
    if (this.#response.isTruncated) return;
    const { buffer, byteOffset, length } = clean;
    this.#response.add(Buffer.from(buffer, byteOffset, length).toString('utf8', 0, maxBytes + maxSecretBytes));
  }

  /** Null when there is nothing. */
  seal(callId: string, secrets: SecretBox): SealedContent | null {
    const content: CallContent = { request: this.#request.text, response: this.#response.text };
    if (content.request === null && content.response === null) return null;
    const truncated = this.#request.isTruncated || this.#response.isTruncated;
    return { sealed: secrets.seal(JSON.stringify(content), callContentContext(callId)), truncated };
  }
}

class Part {
  readonly #pieces: string[] = [];
  #bytesLeft = maxBytes;
  isTruncated = false;

  add(text: string): void {
    if (this.isTruncated) return;
    const bytes = Buffer.byteLength(text);
    this.isTruncated = bytes > this.#bytesLeft;
    this.#pieces.push(this.isTruncated ? beginningOf(text, this.#bytesLeft) : text);
    this.#bytesLeft -= bytes;
  }

  get text(): string | null {
    return this.#pieces.length === 0 ? null : this.#pieces.join('');
  }
}

/** As much of a text as so many bytes hold, in whole characters. */
function beginningOf(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}
