/**
 * One tab of Chromium over its debugging protocol: pictures come, and a few commands go. Whoever controls the guest may speak in
 * Chromium's place. A message is bounded before it is looked at, in size and in number; what is beyond the bounds is dropped
 * unread, and nothing more is read for a while. Nothing of it goes on but pictures that were checked, a dialog's bounded words
 * and numbers of a known range.
 */
import { asObject, boundedJson, TokenBucket } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { WebSocket } from 'ws';
import { cdpHost, oneLine } from './http.ts';
import type { DialCdp } from './http.ts';
import { isPlainJpeg, maxFrameBytes } from './jpeg.ts';

export interface Picture {
  readonly jpeg: Uint8Array;
  /** The size of the page's window, in its own pixels. */
  readonly width: number;
  readonly height: number;
}

export interface Dialog {
  readonly kind: 'alert' | 'confirm' | 'prompt' | 'beforeunload';
  /** The page's words. */
  readonly message: string;
}

export interface PageHandlers {
  picture(picture: Picture): void;
  /** Null once it is answered. */
  dialog(dialog: Dialog | null): void;
  closed(): void;
}

/** A picture in base64, and what is said of it. */
const maxMessageBytes = Math.ceil((maxFrameBytes * 4) / 3) + 16 * 1024;
/** Any other message. */
const maxOtherBytes = 64 * 1024;
const bounds = { bytes: maxMessageBytes, depth: 8, elements: 1_000 };
const messageRate = { perSecond: 200, burst: 400 };
const byteRate = { perSecond: 8 * maxFrameBytes, burst: 16 * maxFrameBytes };
const pauseMs = 250;
const handshakeMs = 10_000;
/** Commands on their way to a browser that does not read. */
const maxUnsentBytes = 256 * 1024;
/** Pictures that Chromium sends before it is answered are fewer. */
const maxOwed = 8;
const maxDialogChars = 1_000;
const dialogKinds = new Set(['alert', 'confirm', 'prompt', 'beforeunload']);
const picturesWanted = { format: 'jpeg', quality: 60, maxWidth: 1_280, maxHeight: 1_280 };

export class CdpPage {
  private readonly socket: WebSocket;
  private readonly handlers: PageHandlers;
  private readonly messages = new TokenBucket(messageRate);
  private readonly bytes = new TokenBucket(byteRate);
  private lastId = 0;
  /** The command that asks for the tab's history, and how far to go in it. */
  private wanted: { readonly id: number; readonly by: -1 | 1 } | null = null;
  /** Pictures that Chromium waits for an answer to. */
  private owed: number[] = [];
  private resting: NodeJS.Timeout | undefined;

  private constructor(socket: WebSocket, handlers: PageHandlers) {
    this.socket = socket;
    this.handlers = handlers;
    socket.on('message', (data, isBinary) => this.take(data as Buffer, isBinary));
    socket.once('close', () => {
      clearTimeout(this.resting);
      handlers.closed();
    });
  }

  static async open(dial: DialCdp, tabId: string, handlers: PageHandlers, outer: AbortSignal): Promise<CdpPage> {
    const signal = AbortSignal.any([outer, AbortSignal.timeout(handshakeMs)]);
    const connection = await dial(signal);
    const socket = new WebSocket(`ws://${cdpHost}/devtools/page/${tabId}`, {
      createConnection: () => connection as never,
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
      handshakeTimeout: handshakeMs,
      followRedirects: false,
    });
    // Its close says so too.
    socket.on('error', () => undefined);
    // Messages may come with the handshake's last byte.
    const page = new CdpPage(socket, handlers);
    const stop = (): void => socket.terminate();
    signal.addEventListener('abort', stop);
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('open', () => resolve());
        socket.once('close', () => reject(new Error('the tab did not open')));
        if (signal.aborted) stop();
      });
    } catch (error) {
      connection.destroy();
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
    page.send('Page.startScreencast', picturesWanted);
    return page;
  }

  /** Dropped where the browser does not read. Returns the command's number. */
  send(method: string, params: object = {}): number {
    this.lastId += 1;
    if (this.socket.readyState === WebSocket.OPEN && this.socket.bufferedAmount < maxUnsentBytes)
      this.socket.send(JSON.stringify({ id: this.lastId, method, params }));
    return this.lastId;
  }

  /** Lets Chromium send more pictures. */
  acknowledge(): void {
    for (const sessionId of this.owed.splice(0)) this.send('Page.screencastFrameAck', { sessionId });
  }

  /**
   * Dialogs of the page wait for an answer from here as long as its events are on. They are on while a person has the control:
   * else a viewer who only looks would hold the agent's page.
   */
  answerDialogs(isOn: boolean): void {
    this.send(isOn ? 'Page.enable' : 'Page.disable');
    // Without events it sends no pictures either, until it is asked again.
    if (!isOn) this.restart();
  }

  goInHistory(by: -1 | 1): void {
    this.wanted = { id: this.send('Page.getNavigationHistory'), by };
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  close(): void {
    this.socket.terminate();
  }

  private restart(): void {
    this.owed = [];
    this.send('Page.stopScreencast');
    this.send('Page.startScreencast', picturesWanted);
  }

  private take(data: Buffer, isBinary: boolean): void {
    const now = performance.now();
    if (!this.messages.allows(1, now) || !this.bytes.allows(data.length, now)) return this.rest();
    const isPicture = data.subarray(0, 64).includes('"Page.screencastFrame"');
    if (isBinary || (data.length > maxOtherBytes && !isPicture)) return;
    try {
      this.read(asObject(boundedJson(data, bounds)) ?? {});
    } catch {
      // It is no message of Chromium's.
    }
  }

  /** Reads nothing for a while. Pictures that were dropped are asked for anew. */
  private rest(): void {
    if (this.resting !== undefined) return;
    this.socket.pause();
    this.resting = setTimeout(() => {
      this.resting = undefined;
      this.socket.resume();
      this.restart();
    }, pauseMs);
  }

  private read({ id, method, params, result }: Json): void {
    const given = asObject(params) ?? {};
    if (method === 'Page.screencastFrame') return this.readPicture(given);
    if (method === 'Page.javascriptDialogOpening') {
      const { type, message } = given;
      const kind = (dialogKinds.has(String(type)) ? type : 'alert') as Dialog['kind'];
      return this.handlers.dialog({ kind, message: oneLine(message, maxDialogChars) });
    }
    if (method === 'Page.javascriptDialogClosed') return this.handlers.dialog(null);
    if (this.wanted !== null && id === this.wanted.id) this.readHistory(asObject(result) ?? {});
  }

  private readPicture({ data, metadata, sessionId }: Json): void {
    if (typeof data !== 'string' || !isIn(sessionId, 0, 2 ** 31)) return;
    if (this.owed.length >= maxOwed) return this.close();
    this.owed.push(sessionId);
    const jpeg = Buffer.from(data, 'base64');
    const { deviceWidth, deviceHeight } = asObject(metadata) ?? {};
    if (!isPlainJpeg(jpeg)) return;
    if (!isIn(deviceWidth, 1, 16_384) || !isIn(deviceHeight, 1, 16_384)) return;
    this.handlers.picture({ jpeg, width: Math.round(deviceWidth), height: Math.round(deviceHeight) });
  }

  private readHistory({ currentIndex, entries }: Json): void {
    const { by } = this.wanted!;
    this.wanted = null;
    if (!Array.isArray(entries) || !isIn(currentIndex, 0, entries.length)) return;
    const entryId = asObject(entries[currentIndex + by])?.['id'];
    if (isIn(entryId, 0, 2 ** 31)) this.send('Page.navigateToHistoryEntry', { entryId });
  }
}

const isIn = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && value >= least && value <= most;
