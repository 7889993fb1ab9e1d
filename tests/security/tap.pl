# Opens the tap device named in the first argument and joins it to standard input and output: frames, each after its length in two bytes.
use strict;
use warnings;
use Fcntl qw(O_RDWR);

my $TUNSETIFF = 0x400454ca;
my $IFF_TAP_NO_PI = 0x1002;
sysopen(my $tap, '/dev/net/tun', O_RDWR) or die "/dev/net/tun: $!";
ioctl($tap, $TUNSETIFF, pack('a16 S x22', $ARGV[0], $IFF_TAP_NO_PI)) or die "$ARGV[0]: $!";
print STDERR "ready\n";

sub exactly {
  my ($bytes, $wanted) = ('', @_);
  while (length($bytes) < $wanted) {
    sysread(STDIN, $bytes, $wanted - length($bytes), length($bytes)) or exit 0;
  }
  return $bytes;
}

my $both = '';
vec($both, fileno(STDIN), 1) = 1;
vec($both, fileno($tap), 1) = 1;
while (select(my $ready = $both, undef, undef, undef) > 0) {
  if (vec($ready, fileno($tap), 1) and sysread($tap, my $frame, 65535)) {
    my $message = pack('n', length($frame)) . $frame;
    while (length($message)) {
      my $written = syswrite(STDOUT, $message) or exit 0;
      substr($message, 0, $written) = '';
    }
  }
  # A frame that the device refuses (it is down) is lost, as on a wire.
  syswrite($tap, exactly(unpack('n', exactly(2)))) if vec($ready, fileno(STDIN), 1);
}
