# Varnish 7, behind something that ends TLS and sets X-Forwarded-Proto. Set the backends. Run:
#   varnishd -a :6081 -f /etc/varnish/greeting.vcl -s malloc,256m -p http_gzip_support=off
# Without that parameter, Varnish asks the app for gzip alone, which is larger than Brotli.
# For the app's createVarnishPurge, add the app's addresses to `operators`: it sends BAN with tags in `xkey`.
# To purge a page on this machine: curl -X PURGE -H 'Host: www.example.org' http://127.0.0.1:6081/PATH
vcl 4.1;

import directors;
import std;

probe alive {
	# Varnish can't reach another port, so this isn't /readyz. The alert SiteNoTraffic counts these requests, too: it needs
	# 300 visitors' requests a second behind three probes. Watch Varnish's own metrics instead.
	.url = "/icon.svg";
	.interval = 1s;
	.timeout = 1s;
	.window = 3;
	.threshold = 2;
	.initial = 2;
}

backend web_1 { .host = "10.0.0.11"; .port = "3000"; .probe = alive; .connect_timeout = 1s; .first_byte_timeout = 35s; }
backend web_2 { .host = "10.0.0.12"; .port = "3000"; .probe = alive; .connect_timeout = 1s; .first_byte_timeout = 35s; }
backend web_3 { .host = "10.0.0.13"; .port = "3000"; .probe = alive; .connect_timeout = 1s; .first_byte_timeout = 35s; }

acl operators {
	"localhost";
}

sub vcl_init {
	new web = directors.round_robin();
	web.add_backend(web_1);
	web.add_backend(web_2);
	web.add_backend(web_3);
}

sub vcl_recv {
	unset req.http.X-Missing;
	set req.backend_hint = web.backend();
	if (req.method == "PURGE" || req.method == "BAN") {
		# What ends TLS may be on this machine, too: it sets the header for every visitor.
		if (client.ip !~ operators || req.http.X-Forwarded-Proto) {
			return (synth(405));
		}
		if (req.method == "PURGE") {
			return (purge);
		}
		# The app encodes all other characters.
		if (req.http.xkey ~ "^[\w/.:%-]+( [\w/.:%-]+)*$" &&
		    std.ban("obj.http.xkey ~ (^|\s)(" + regsuball(req.http.xkey, " ", "|") + ")(\s|$)")) {
			return (synth(200));
		}
		return (synth(400));
	}
	if (req.http.Upgrade ~ "(?i)websocket") {
		return (pipe);
	}
	# One copy for each encoding, not for each browser's spelling.
	if (req.http.Accept-Encoding ~ "\bbr\b") {
		set req.http.Accept-Encoding = "br";
	} elsif (req.http.Accept-Encoding ~ "\bgzip\b") {
		set req.http.Accept-Encoding = "gzip";
	} else {
		unset req.http.Accept-Encoding;
	}
}

sub vcl_pipe {
	set bereq.http.Upgrade = req.http.Upgrade;
	set bereq.http.Connection = req.http.Connection;
}

sub vcl_backend_fetch {
	if (bereq.retries > 0) {
		set bereq.backend = web.backend();
		set bereq.first_byte_timeout = 35s;
	} elsif (bereq.method == "GET" || bereq.method == "HEAD") {
		# Shorter than visitors wait. If the process has frozen, the probe has noticed it by now, and the retry goes elsewhere.
		set bereq.first_byte_timeout = 7s;
	}
}

sub vcl_backend_response {
	# During a rollout, a process of the other release may lack a script.
	if (beresp.status == 404 && bereq.url ~ "^/assets/" && bereq.retries < 3) {
		set bereq.http.X-Missing = "yes";
		return (retry);
	}
	# A lifetime for caches in front alone (RFC 9213), which Varnish doesn't read by itself.
	if (beresp.http.CDN-Cache-Control ~ "max-age=\d+") {
		set beresp.ttl = std.duration(regsub(beresp.http.CDN-Cache-Control, "^.*max-age=(\d+).*$", "\1s"), 0s) - beresp.age;
	}
	# Event streams.
	if (beresp.http.Content-Type ~ "^text/event-stream") {
		set beresp.uncacheable = true;
	}
}

sub vcl_deliver {
	unset resp.http.xkey;
}

sub vcl_backend_error {
	if ((bereq.method == "GET" || bereq.method == "HEAD") && bereq.retries < 3) {
		return (retry);
	}
	# The others have said 404, and the last one didn't respond.
	if (bereq.http.X-Missing) {
		set beresp.status = 404;
		set beresp.http.Cache-Control = "no-store";
		return (deliver);
	}
}
