/**
 * Harm that agents can do to others over the network, because of the operator's settings or missing features of the kernel.
 */
import { narrowTable } from '@lodge/vm';
import { note, ok, warn } from '../finding.ts';
import { fileOf } from './check.ts';
import type { Check } from './check.ts';

const connectionTable: Check = {
  name: 'connection table',
  async look(facts, name) {
    const text = await fileOf(facts, '/proc/sys/net/netfilter/nf_conntrack_max');
    if (text === null) return note(name, 'not loaded yet: the first agent loads it');
    const size = Number(text);
    const narrow = narrowTable(size, facts.guests);
    if (narrow !== null) return warn(name, narrow.detail, narrow.advice);
    return ok(name, size === 0 ? 'without a bound' : `${size} connections, a quarter of them kept from agents`);
  },
};

const mail: Check = {
  name: 'mail',
  look({ config }, name) {
    if (config.egressMail === 'closed') return ok(name, 'agents reach no port of mail servers');
    const detail =
      'LODGE_EGRESS_MAIL opens ports 25, 465 and 587: agents send mail under the address of this machine, which block lists may come to name';
    return warn(name, detail, 'set LODGE_EGRESS_MAIL=closed, and let agents send by the API of a mail service');
  },
};

const bandwidth: Check = {
  name: 'bandwidth',
  look({ config: { networkMbit } }, name) {
    if (networkMbit > 0) return ok(name, `${networkMbit} Mbit/s for each processor of an agent`);
    const detail = 'LODGE_NETWORK_MBIT is 0: one agent can take all that this machine sends and receives';
    return warn(name, detail, 'set LODGE_NETWORK_MBIT to a part of what the machine has');
  },
};

export const networkChecks: readonly Check[] = [connectionTable, mail, bandwidth];
