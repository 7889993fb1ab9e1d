import type { Json } from '@lodge/domain';
import type { TokenUsage } from '@lodge/ports';
import { noTokens } from '../wires/wire.ts';
import type { Wire } from '../wires/wire.ts';

const bytesPerToken = 4;
const tokensPerImage = 1500;
/** Runs of base64 that are no words: an image, a file. */
const embedded = /[A-Za-z0-9+/]{2048,}={0,2}/g;
const longText = 64 * 1024;
/** Taken where a request does not bound its answer. */
const usualOutput = 4096;

/** Tokens a request is likely to be. */
export function estimateInput(text: string): number {
  let bytes = Buffer.byteLength(text);
  if (text.length < longText) return Math.ceil(bytes / bytesPerToken);
  let images = 0;
  for (const [run] of text.matchAll(embedded)) {
    bytes -= run.length;
    images++;
  }
  return Math.ceil(bytes / bytesPerToken) + images * tokensPerImage;
}

export const estimateOutput = (most: number | null): number => most ?? usualOutput;

/** Usage of one call as it goes by. */
export class TokenMeter {
  readonly #wire: Wire;
  #told: TokenUsage = noTokens;
  /** What was told is of everything the model has said so far. */
  #toldAll = false;
  #failed = false;
  #said = 0;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** A reply, or an event of a stream. */
  read(reply: Json): void {
    const said = textLength(this.#wire.said(reply));
    this.#said += said;
    this.#told = this.#wire.count(reply, this.#told);
    if (this.#wire.countsAll(reply)) this.#toldAll = true;
    else if (said > 0) this.#toldAll = false;
    this.#failed ||= this.#wire.isFailure(reply);
  }

  /** Part of a reply that never became whole. */
  readPart(bytes: number): void {
    this.#said += bytes;
  }

  /** Tokens of the call so far, where it was answered: what was told, and where that is not all of it, what can be reckoned from what was said. */
  usage(inputEstimate: number): { readonly usage: TokenUsage; readonly estimated: boolean } {
    if (this.#toldAll) return { usage: this.#told, estimated: false };
    const outputTokens = Math.max(this.#told.outputTokens ?? 0, Math.ceil(this.#said / bytesPerToken));
    return {
      usage: { ...this.#told, inputTokens: this.#told.inputTokens ?? inputEstimate, outputTokens },
      estimated: true,
    };
  }

  /** Whether the provider told that the call failed. */
  get isFailed(): boolean {
    return this.#failed;
  }

  /** Whether it told so instead of an answer: the model said nothing, and no usage was told. */
  get isFailedAtOnce(): boolean {
    return this.#failed && this.#said === 0 && this.#told === noTokens;
  }
}

/** Names and marks that no model says, and images, which are no text. */
const unsaid = new Set(
  'id role type index call_id item_id name signature thoughtSignature encrypted_content data b64_json result mimeType'.split(
    ' ',
  ),
);

function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  for (const [key, part] of Object.entries(value)) if (!unsaid.has(key)) length += textLength(part);
  return length;
}
