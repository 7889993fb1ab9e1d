/** Bodies of files to write. */
import type { Attempt } from './attempt.ts';

export type FileBody = string | Uint8Array | ArrayBuffer | Blob | ReadableStream<Uint8Array>;
/** Called with the bytes that have gone out, and with all of them where that is known. */
export type OnProgress = (done: number, all: number | undefined) => void;

const streamsBodies = (): boolean => {
  const { process, Deno } = globalThis as { process?: { versions?: { node?: string } }; Deno?: unknown };
  return process?.versions?.node !== undefined || Deno !== undefined;
};

/** A file's body. It can be sent again, unless it is a stream. */
export class Upload {
  readonly size: number | undefined;
  readonly isOnce: boolean;
  #isSpent = false;
  readonly #source: Blob | ReadableStream<Uint8Array> | (() => ReadableStream<Uint8Array>);
  readonly #onProgress: OnProgress | undefined;

  /** A function makes the stream anew for each try; `size` is what it will have. */
  constructor(
    source: FileBody | (() => ReadableStream<Uint8Array>),
    { onProgress, size }: { readonly onProgress?: OnProgress | undefined; readonly size?: number | undefined } = {},
  ) {
    const isStream = typeof source === 'function' || source instanceof ReadableStream;
    this.#source = isStream ? source : source instanceof Blob ? source : blobOf(source);
    this.size = this.#source instanceof Blob ? this.#source.size : size;
    this.isOnce = source instanceof ReadableStream;
    this.#onProgress = onProgress;
  }

  /** It is a stream that was begun. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** The body for fetch. Browsers send no streams over HTTP/1, so there it is a Blob, and its progress is not seen. */
  init(attempt: Attempt): RequestInit {
    const source = this.#source;
    if (source instanceof Blob && !streamsBodies()) return { body: source };
    if (this.isOnce) this.#isSpent = true;
    const stream = source instanceof Blob ? source.stream() : typeof source === 'function' ? source() : source;
    // The word `duplex` is missing in some platforms' types.
    const init = { body: this.#counted(stream, attempt), duplex: 'half' as const };
    return init;
  }

  #counted(stream: ReadableStream<Uint8Array>, attempt: Attempt): ReadableStream<Uint8Array> {
    const reader = stream.getReader();
    let done = 0;
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const next = await reader.read();
        attempt.touch();
        if (next.done) return controller.close();
        done += next.value.length;
        controller.enqueue(next.value);
        this.#onProgress?.(done, this.size);
      },
      cancel: (reason) => reader.cancel(reason),
    });
  }
}

/** Platforms' types differ in which buffers a Blob may be made of. */
function blobOf(part: string | Uint8Array | ArrayBuffer): Blob {
  const parts: unknown[] = [part];
  return new Blob(parts as ConstructorParameters<typeof Blob>[0]);
}

/** A stream's bytes as a Blob, where the platform cannot send the stream. */
export async function sendable(body: FileBody): Promise<FileBody> {
  if (!(body instanceof ReadableStream) || streamsBodies()) return body;
  return new Response(body).blob();
}
