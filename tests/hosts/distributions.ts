/** A distribution that people run Lodge on, as mmdebstrap makes it, with its own mirrors and keyrings. */
export interface Distribution {
  readonly suite: string;
  readonly components: string;
  /** Must be on the machine that makes it. */
  readonly keyring: string;
}

/** A small machine with a user who may sudo; what Lodge needs comes by its own set-up. */
export const packages = ['apt', 'ca-certificates', 'git', 'iproute2', 'nodejs', 'npm', 'procps', 'sudo'];

export const distributions: Readonly<Record<string, Distribution>> = {
  debian12: {
    suite: 'bookworm',
    components: 'main',
    keyring: '/usr/share/keyrings/debian-archive-keyring.gpg',
  },
  debian13: {
    suite: 'trixie',
    components: 'main',
    keyring: '/usr/share/keyrings/debian-archive-keyring.gpg',
  },
  ubuntu2404: {
    suite: 'noble',
    components: 'main,universe',
    keyring: '/usr/share/keyrings/ubuntu-archive-keyring.gpg',
  },
};

/** Other programs that have a firewall, and what they and the tests of them need. */
export const firewallPackages = [
  'ca-certificates',
  'dbus',
  'docker.io',
  'firewalld',
  'iproute2',
  'iptables',
  'kmod',
  'nftables',
  'procps',
  'ufw',
];
