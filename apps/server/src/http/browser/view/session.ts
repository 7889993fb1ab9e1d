/**
 * One open view of a browser: pictures of a tab go to the page, and input comes from it while a person has the control. The
 * guest keeps the control with its end, so a view that ends loses nothing. The view asks for the state every two seconds, and
 * follows the tab that it shows until that is closed. No message passes through: each side's is read and made anew.
 */
import { Refusal } from '@lodge/domain';
import type { GuestClient } from '@lodge/guest';
import type { RawData, WebSocket } from 'ws';
import type { KeptSocket } from '../../guest/kept-socket.ts';
import { listTabs, openTab, tabAct } from '../cdp/http.ts';
import type { DialCdp, Tab } from '../cdp/http.ts';
import { CdpPage } from '../cdp/page.ts';
import type { Dialog, Picture } from '../cdp/page.ts';
import { browserRefusal } from '../state.ts';
import { dispatch } from './input.ts';
import { viewMessageOf } from './messages.ts';
import type { ViewMessage } from './messages.ts';

const lookEveryMs = 2_000;
/** Bytes on their way to a viewer: a picture waits until the one before was drawn. */
const maxUnsentBytes = 4 * 1024 * 1024;
const changeEveryMs = 1_000;

export interface ViewNeeds {
  readonly guest: GuestClient;
  /** Writes who took or gave back the control. */
  readonly tell: (change: { readonly seconds: number } | null) => Promise<void>;
  readonly signal: AbortSignal;
}

export class ViewSession {
  private readonly needs: ViewNeeds;
  private readonly socket: WebSocket;
  private readonly kept: KeptSocket;
  private readonly looking: NodeJS.Timeout;
  private page: CdpPage | null = null;
  private tabs: readonly Tab[] = [];
  private shownId: string | null = null;
  private dialog: Dialog | null = null;
  /** By this process' clock. */
  private heldUntilMs = 0;
  private answersDialogs = false;
  private isDrawing = false;
  private waiting: Picture | null = null;
  private isLooking = false;
  private changedAtMs = -changeEveryMs;
  private lastState = '';

  constructor(needs: ViewNeeds, socket: WebSocket, kept: KeptSocket) {
    this.needs = needs;
    this.socket = socket;
    this.kept = kept;
    socket.on('message', (data, isBinary) => this.take(data, isBinary));
    this.looking = setInterval(() => void this.look(false), lookEveryMs);
    void this.look(true);
  }

  /** Ends what it has in the guest. The control stays until it ends. */
  close(): void {
    clearInterval(this.looking);
    this.page?.close();
  }

  private get isHeld(): boolean {
    return this.heldUntilMs > performance.now();
  }

  private readonly dial: DialCdp = (signal) => this.needs.guest.browser.openCdp({ start: false }, { signal });

  /** Reads the state, opens the tab to be shown, and says what is new. */
  private async look(start: boolean): Promise<void> {
    if (this.isLooking || this.needs.signal.aborted) return;
    this.isLooking = true;
    try {
      const { guest, signal } = this.needs;
      if (start) (await guest.browser.openCdp({ start: true }, { signal })).destroy();
      const { status, message, heldForSeconds } = await guest.browser.state({ signal });
      this.heldUntilMs = heldForSeconds === null ? 0 : performance.now() + heldForSeconds * 1000;
      this.tabs = status === 'running' ? await listTabs(this.dial, signal).catch(() => this.tabs) : [];
      await this.showTab();
      this.answerDialogs();
      this.say({ status, message, heldForSeconds });
    } catch (error) {
      const refusal = browserRefusal(error);
      this.say({ status: 'unavailable', message: refusal instanceof Refusal ? refusal.message : null });
    } finally {
      this.isLooking = false;
    }
  }

  private async showTab(): Promise<void> {
    const wanted = this.tabs.find(({ id }) => id === this.shownId) ?? this.tabs[0];
    if (this.page !== null && wanted?.id === this.shownId) return;
    this.page?.close();
    this.page = null;
    this.dialog = null;
    this.shownId = wanted?.id ?? null;
    this.answersDialogs = false;
    this.isDrawing = false;
    this.waiting = null;
    if (wanted === undefined) return;
    let page: CdpPage | null = null;
    const handlers = {
      picture: (picture: Picture) => this.show(picture),
      dialog: (dialog: Dialog | null) => {
        this.dialog = dialog;
        this.send({ type: 'dialog', dialog });
      },
      closed: () => {
        if (this.page === page) this.page = null;
      },
    };
    page = await CdpPage.open(this.dial, wanted.id, handlers, this.needs.signal).catch(() => null);
    this.page = page?.isOpen === true ? page : null;
    if (this.needs.signal.aborted) page?.close();
  }

  private answerDialogs(): void {
    if (this.page === null || this.answersDialogs === this.isHeld) return;
    this.answersDialogs = this.isHeld;
    this.page.answerDialogs(this.isHeld);
    if (!this.isHeld) this.dialog = null;
  }

  private say(state: {
    readonly status: string;
    readonly message: string | null;
    readonly heldForSeconds?: number | null;
  }) {
    const { tabs, shownId, dialog } = this;
    const text = JSON.stringify({ type: 'state', ...state, tabs, shownId, dialog });
    if (text === this.lastState) return;
    this.lastState = text;
    this.socket.send(text);
  }

  private send(message: object): void {
    if (this.socket.bufferedAmount < maxUnsentBytes) this.socket.send(JSON.stringify(message));
  }

  /** One picture is on its way at a time, and the newest waits behind it. */
  private show(picture: Picture): void {
    if (this.isDrawing) {
      this.waiting = picture;
      return;
    }
    this.isDrawing = true;
    const head = Buffer.alloc(4);
    head.writeUInt16BE(picture.width, 0);
    head.writeUInt16BE(picture.height, 2);
    this.socket.send(Buffer.concat([head, picture.jpeg]), { binary: true });
  }

  private drawn(): void {
    const { waiting } = this;
    this.isDrawing = false;
    this.waiting = null;
    if (waiting !== null) this.show(waiting);
    this.page?.acknowledge();
  }

  private take(data: RawData, isBinary: boolean): void {
    const message = isBinary ? null : viewMessageOf(data as Buffer);
    if (message === null) return this.kept.shut(1007, 'not a message of a view');
    if (message.type === 'drawn') return this.drawn();
    this.kept.rest();
    this.act(message).catch((error: unknown) => {
      const refusal = browserRefusal(error);
      const words = refusal instanceof Refusal ? refusal.message : 'This did not work. Try again shortly.';
      this.send({ type: 'trouble', message: words });
    });
  }

  private async act(message: Exclude<ViewMessage, { readonly type: 'drawn' }>): Promise<void> {
    if (message.type === 'start') return this.look(true);
    if (message.type === 'take') return this.change(message.seconds);
    if (message.type === 'release') return this.change(0);
    if (!this.isHeld) return;
    if (message.type === 'tab') return this.actOnTab(message.what, message.id);
    if (message.type === 'open') {
      this.shownId = await openTab(this.dial, 'about:blank', this.needs.signal);
      return this.look(false);
    }
    if (this.page !== null) dispatch(this.page, message);
  }

  private async change(seconds: number): Promise<void> {
    const now = performance.now();
    if (now - this.changedAtMs < changeEveryMs) return;
    this.changedAtMs = now;
    const { guest, signal, tell } = this.needs;
    if (seconds === 0 && !this.isHeld) return;
    await guest.browser.hold(seconds, { signal });
    this.heldUntilMs = seconds === 0 ? 0 : performance.now() + seconds * 1000;
    await tell(seconds === 0 ? null : { seconds });
    await this.look(false);
  }

  private async actOnTab(what: 'show' | 'close', id: string): Promise<void> {
    if (!this.tabs.some((tab) => tab.id === id)) return;
    await tabAct(this.dial, what === 'show' ? 'activate' : 'close', id, this.needs.signal);
    if (what === 'show') this.shownId = id;
    this.page?.close();
    this.page = null;
    await this.look(false);
  }
}
