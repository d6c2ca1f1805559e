# The image of uopd: the server, the command `uop`, and the C compiler that makes the kernels.
#
#   docker build -t uopd .
#   docker run --rm -p 127.0.0.1:9470:9470 -v uopd-cache:/var/cache/uopd uopd
#
# Flags after the image name are added to those below: `… uopd --threads 4`.
ARG BASE=debian:bookworm

FROM ${BASE} AS build
WORKDIR /src
COPY scripts/setup scripts/setup
RUN scripts/setup --build
COPY . .
RUN cmake -G Ninja -S . -B /build -DCMAKE_BUILD_TYPE=Release -DUOPD_BUILD_TESTS=OFF \
 && cmake --build /build --target uopd uop \
 && install -s -D -t /out /build/bin/uopd /build/bin/uop \
 && rm -rf /build

FROM ${BASE}
LABEL org.opencontainers.image.title="uopd" \
      org.opencontainers.image.description="A compile-and-execute service for tensor programs" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"
# Kernels include no header and link no library, so gcc without libc6-dev is enough.
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      gcc libfmt9 libgrpc++1.51 libprometheus-cpp-pull1.0 libprotobuf32 libspdlog1.10 libssl3 >/dev/null \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
 && useradd --uid 9470 --user-group --no-create-home --home-dir /var/cache/uopd --shell /usr/sbin/nologin uopd \
 && install -d -o uopd -g uopd -m 0700 /var/cache/uopd
COPY --from=build /out /usr/local/bin
USER uopd
VOLUME /var/cache/uopd
# Large messages are allocated with malloc: huge pages spare most of their page faults.
ENV GLIBC_TUNABLES=glibc.malloc.hugetlb=1
EXPOSE 9470 9471
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["uop", "--server", "127.0.0.1:9470", "status"]
ENTRYPOINT ["uopd", "--listen", "0.0.0.0:9470", "--metrics", "0.0.0.0:9471", "--cache-dir", "/var/cache/uopd"]
