/**
 * WhatsApp as a linked device sees it: a WebSocket server with the real protocol. Noise XX with a certificate chain, pairing by a
 * scanned or a typed code, login, pre-keys, Signal messages in both directions, groups with sender keys, receipts, the backlog
 * of a device that was away, and the media host where files lie. Calls, history and app state are not there.
 *
 *     const whatsapp = await startWhatsAppStub();
 *     … an adapter with base URL whatsapp.url and certificate root whatsapp.root shows a code …
 *     const account = whatsapp.account('15551234567', 'Agent');
 *     whatsapp.scan(account, qr);
 *     const ann = whatsapp.person('15557654321', 'Ann');
 *     await whatsapp.write(ann, account, 'hello');
 *     ann.shown
 *     await whatsapp.close();
 *
 * It stands alone: any number of accounts at once. Texts are readable on the phones only; the server refuses what it can see.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { BinaryNode, proto } from 'baileys';
import { WebSocketServer } from 'ws';
import type { Account } from './account.ts';
import { answerTo, mediaConn } from './answers.ts';
import { chainOf } from './certificate.ts';
import { newKeyPair } from './curve.ts';
import { Directory } from './directory.ts';
import type { Group } from './directory.ts';
import { Link } from './link.ts';
import { MediaServer } from './media.ts';
import { childOf, childrenOf, node, seconds, server } from './nodes.ts';
import { readQr, Registration } from './pairing.ts';
import type { Person } from './person.ts';
import { carry, write, writeInGroup } from './traffic.ts';
import type { WriteOptions } from './traffic.ts';

export type { Account, Receipt } from './account.ts';
export type { Group } from './directory.ts';
export type { MediaServer, PersonFile, PhoneFile } from './media.ts';
export type { Person, Shown } from './person.ts';
export type { WriteOptions } from './traffic.ts';

/** The server's misbehaviour until the test changes it. */
export interface Misbehaviour {
  /** `forged`: the chain has another root. `stolen`: a good chain that speaks for another server's key. */
  certificate: 'good' | 'forged' | 'stolen';
  /**
   * The server's reply to a device's sent message. `lost`: it is delivered, and the answer is not. `dropped`: neither.
   * `breaks_once`: it is delivered and the connection breaks before the answer, the next time.
   */
  acknowledges: 'well' | 'lost' | 'dropped' | 'breaks_once';
  delayMs: number;
  /** Nothing is sent and nothing is read on links that open from now on. */
  silent: boolean;
  /** The server says that it has a pre-key of a new device: it uploads 5 and not 812, which takes a second. */
  fewPreKeys: boolean;
  /** Devices that ask for leave to upload files are given none. */
  refusesUploads: boolean;
  /** Devices that ask for a code to type are given none. */
  refusesCodes: boolean;
  /** Connections are closed before the handshake. */
  refusesConnections: boolean;
}

export async function startWhatsAppStub(port = 0): Promise<WhatsAppStub> {
  const sockets = new WebSocketServer({ host: '127.0.0.1', port, maxPayload: 8 * 1024 * 1024 });
  await once(sockets, 'listening');
  return new WhatsAppStub(sockets, await MediaServer.start());
}

export class WhatsAppStub {
  readonly url: string;
  /** Where files lie. */
  readonly media: MediaServer;
  /** Public key that a client must trust. */
  readonly root: Buffer;
  readonly misbehave: Misbehaviour = {
    certificate: 'good',
    acknowledges: 'well',
    delayMs: 0,
    silent: false,
    fewPreKeys: false,
    refusesUploads: false,
    refusesCodes: false,
    refusesConnections: false,
  };
  /** Stanzas that devices sent, by their tags, oldest first: the last thousand. */
  readonly seen: string[] = [];
  handshakes = 0;
  /** Handshakes that the client finished: it said who it is. */
  finished = 0;
  /** All that devices sent, without pings. */
  stanzas = 0;
  private readonly sockets: WebSocketServer;
  private readonly directory = new Directory();
  private readonly links = new Set<Link>();
  private readonly registrations = new Map<Link, Registration>();
  private readonly loggedIn = new Map<Link, Account>();
  private readonly keys = {
    root: newKeyPair(),
    forged: newKeyPair(),
    intermediate: newKeyPair(),
    server: newKeyPair(),
  };

  constructor(sockets: WebSocketServer, media: MediaServer) {
    this.sockets = sockets;
    this.media = media;
    this.url = `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}/ws/chat`;
    this.root = this.keys.root.public;
    sockets.on('connection', (socket) => this.open(socket));
  }

  person(number: string, name: string): Person {
    return this.directory.person(number, name);
  }

  account(number: string, name: string): Account {
    return this.directory.account(number, name);
  }

  group(title: string, members: readonly Person[]): Group {
    return this.directory.group(title, members);
  }

  /** The account's phone scans a code. Throws when the server knows no such code. */
  scan(account: Account, qr: string): void {
    const { ref, advSecret } = readQr(qr);
    const registration = [...this.registrations.values()].find(({ refs }) => refs.includes(ref));
    if (!registration) throw new Error('the code is not valid any more');
    registration.succeed(account, advSecret);
  }

  /** The account's owner types the code that a device shows for this phone's number. */
  async type(account: Account, code: string): Promise<void> {
    const { number } = account.phone;
    const waiting = (): Registration | undefined =>
      [...this.registrations.values()].find(({ waitsFor }) => waitsFor === number);
    // A device shows its code as soon as it has asked for it.
    for (let tries = 0; tries < 50 && !waiting(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 20));
    const registration = waiting();
    if (!registration) throw new Error(`nothing asks ${number} for a code`);
    await registration.type(account, code);
  }

  write(person: Person, account: Account, text: string, options?: WriteOptions): Promise<string> {
    return write(person, account, text, options);
  }

  writeInGroup(person: Person, group: Group, text: string, options?: WriteOptions): Promise<string> {
    const accounts = group.members.flatMap((member) => this.directory.accountOf(member.jid) ?? []);
    return writeInGroup(
      person,
      group,
      accounts.filter(({ phone, device }) => phone !== person && device),
      text,
      options,
    );
  }

  /** The last message comes once more on the live connection, as after a lost receipt. */
  repeat(account: Account): void {
    if (account.last) account.link?.send(account.last);
  }

  /** The owner removes the device in the phone's settings. */
  unlink(account: Account): void {
    account.device = null;
    account.refusesLogins = null;
    account.link?.end(streamError({ code: '401' }, node('conflict', { type: 'device_removed' })));
  }

  /** Somebody else logs in with the same keys. */
  replace(account: Account): void {
    account.link?.end(streamError({}, node('conflict', { type: 'replaced' })));
  }

  /** The account's connection stays open, and nothing is sent or read on it any more. */
  halfOpen(account: Account): void {
    if (account.link) account.link.muted = true;
  }

  /** The account's connection goes on answering, and delivers no message. */
  deafen(account: Account): void {
    account.deafLink = account.link;
  }

  /** A stanza of the test's own. */
  sendStanza(account: Account, stanza: BinaryNode): void {
    account.link?.send(stanza);
  }

  sendGarbage(account: Account): void {
    account.link?.sendGarbage();
  }

  dropConnections(): void {
    for (const link of this.links) link.socket.terminate();
  }

  get connections(): number {
    return this.links.size;
  }

  async close(): Promise<void> {
    this.dropConnections();
    this.sockets.close();
    await once(this.sockets, 'close');
    await this.media.close();
  }

  private open(socket: Link['socket']): void {
    if (this.misbehave.refusesConnections) return socket.terminate();
    this.handshakes += 1;
    const { certificate } = this.misbehave;
    const other = newKeyPair();
    const chain = chainOf({
      root: certificate === 'forged' ? this.keys.forged : this.keys.root,
      intermediate: this.keys.intermediate,
      leafKey: certificate === 'stolen' ? other.public : this.keys.server.public,
    });
    const link = new Link(
      socket,
      { static: this.keys.server, ephemeral: newKeyPair(), chain },
      {
        opened: (opened, payload) => this.enter(opened, payload),
        stanza: (from, stanza) => this.take(from, stanza),
        closed: (closed) => this.forget(closed),
      },
    );
    link.muted = this.misbehave.silent;
    this.links.add(link);
  }

  private forget(link: Link): void {
    this.links.delete(link);
    this.registrations.delete(link);
    const account = this.loggedIn.get(link);
    this.loggedIn.delete(link);
    if (account?.link === link) account.link = null;
  }

  private enter(link: Link, payload: proto.IClientPayload): void {
    this.finished += 1;
    if (payload.devicePairingData) {
      const registration = new Registration(link, payload.devicePairingData);
      this.registrations.set(link, registration);
      return registration.askForScan();
    }
    const account = this.directory.accountOf(String(payload.username));
    const isKnown = account?.device?.id === payload.device;
    const reason = account?.refusesLogins ?? (isKnown ? null : '401');
    if (!account || reason !== null) return link.end(node('failure', { reason: reason ?? '401', location: 'stub' }));
    account.logins += 1;
    if (account.link) this.replace(account);
    account.link = link;
    this.loggedIn.set(link, account);
    link.send(node('success', { t: seconds(), lid: account.device!.lid, location: 'stub', props: '1' }));
  }

  private async take(link: Link, stanza: BinaryNode): Promise<void> {
    const first = childrenOf(stanza)[0]?.tag;
    this.seen.push(first ? `${stanza.tag}/${first}` : stanza.tag);
    if (this.seen.length > 1000) this.seen.shift();
    if (first !== 'ping') this.stanzas += 1;
    const registration = this.registrations.get(link);
    if (registration) return this.takeOfPairing(registration, stanza);
    const account = this.loggedIn.get(link);
    if (!account) return link.socket.terminate();
    switch (stanza.tag) {
      case 'iq':
        return this.takeIq(link, account, stanza);
      case 'ib':
        if (first === 'offline_batch') account.sendBacklog(link);
        return;
      case 'receipt':
        return this.takeReceipt(link, account, stanza);
      case 'ack':
        if (stanza.attrs['class'] !== 'message') return;
        account.acknowledge([stanza.attrs['id']!]);
        if (stanza.attrs['error']) account.refused.push(stanza.attrs['id']!);
        return;
      case 'chatstate':
        return this.takeChatState(account, stanza);
      case 'message':
        return this.takeMessage(link, account, stanza);
      default:
    }
  }

  private takeOfPairing(registration: Registration, stanza: BinaryNode): void {
    const request = childOf(stanza, 'link_code_companion_reg');
    if (request && this.misbehave.refusesCodes) {
      const attrs = { from: server, type: 'error', id: stanza.attrs['id']! };
      return registration.link.send(node('iq', attrs, [node('error', { code: '429', text: 'rate-overlimit' })]));
    }
    if (request?.attrs['stage'] === 'companion_hello') return registration.takeHello(stanza, request);
    if (request?.attrs['stage'] === 'companion_finish') return registration.takeFinish(stanza, request);
    if (childOf(stanza, 'pair-device-sign')) registration.link.end(streamError({ code: '515' }));
  }

  private async takeIq(link: Link, account: Account, stanza: BinaryNode): Promise<void> {
    const attrs = { from: server, id: stanza.attrs['id']! };
    if (childOf(stanza, 'media_conn')) return link.send(this.leaveToUpload(attrs));
    const content = (await answerTo(stanza, account, this.directory, this.misbehave.fewPreKeys)) ?? [];
    link.send(node('iq', { ...attrs, type: 'result' }, content));
    if (childOf(stanza, 'active')) account.announceBacklog(link);
  }

  private leaveToUpload(attrs: BinaryNode['attrs']): BinaryNode {
    if (!this.misbehave.refusesUploads) return node('iq', { ...attrs, type: 'result' }, [mediaConn(this.media)]);
    return node('iq', { ...attrs, type: 'error' }, [node('error', { code: '403', text: 'forbidden' })]);
  }

  private async takeReceipt(link: Link, account: Account, stanza: BinaryNode): Promise<void> {
    const { id = '', type = 'delivered' } = stanza.attrs;
    const ids = [id, ...childrenOf(childOf(stanza, 'list'), 'item').map(({ attrs }) => attrs['id']!)];
    for (const each of ids) account.receipts.push({ id: each, type });
    link.send(node('ack', { class: 'receipt', id, from: server }));
    if (type === 'retry') {
      account.acknowledge(ids);
      await account.resend.get(id)?.();
    } else if (type !== 'read') account.acknowledge(ids);
  }

  private takeChatState(account: Account, stanza: BinaryNode): void {
    if (!childOf(stanza, 'composing')) return;
    const to = stanza.attrs['to']!;
    const seers = this.directory.groups.get(to)?.members ?? [this.directory.personOf(to)];
    for (const person of seers) person?.sawTyping.push(account.phone.number);
  }

  private async takeMessage(link: Link, account: Account, stanza: BinaryNode): Promise<void> {
    const { acknowledges, delayMs } = this.misbehave;
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (acknowledges === 'dropped') return;
    const { id, to } = stanza.attrs;
    const attrs = { class: 'message', id: id!, from: to!, t: seconds() };
    if (account.restricted) return link.send(node('ack', { ...attrs, error: '463' }));
    await carry(account, stanza, this.directory);
    if (acknowledges === 'well') link.send(node('ack', attrs));
    if (acknowledges === 'breaks_once') {
      this.misbehave.acknowledges = 'well';
      link.socket.terminate();
    }
  }
}

const streamError = (attrs: BinaryNode['attrs'], reason?: BinaryNode): BinaryNode =>
  node('stream:error', attrs, reason ? [reason] : []);
